"""Fingerprints lie in files and collections: no version of neardup may change those of a recipe."""

import pytest

import neardup as nd
from reference import fingerprint as reference

# A text, and its fingerprints by the recipes default and default-2.
GOLDEN = {
    "English": (
        "The committee meets on Monday at 10:30 in room 4, and lunch is at noon.",
        "5d362427fd9c1e90803e85827dd3c83a",
        "4d162565ed8c3d3080ba95827d59c83a",
    ),
    "Chinese": (
        "北京今天多云，最高气温25度，东风三级。",
        "f3f9578f7f957125eaf55f6d50d4c12c",
        "f3f9578f7f877121eaf77b6d70d4c32c",
    ),
    "traditional Chinese": (
        "臺灣的氣象臺說，颱風將於週五抵達，請帶雨傘。",
        "b83c5a4c5b00143a1056070eedf10ba8",
        "e4e52dffc01a9e0686b84f1889b14d0e",
    ),
    "Japanese": (
        "東京タワーは１９５８年に完成した。コーヒーを飲む。",
        "f6ae9748d9ec3b69415f3b198f8edcab",
        "e42fd768d8de3f41e15e33790fce54ab",
    ),
    "Korean": (
        "대한민국의 수도는 서울이다. 회의는 3시에 시작합니다.",
        "f70d98940005c141ca2ec03e3d0170fc",
        "211758b573012452de1e2079054b5d15",
    ),
    "Thai": (
        "วันนี้กรุงเทพอากาศร้อน อุณหภูมิ ๓๕ องศา",
        "c8869211508a898a1519e762e1a4fd95",
        "cc84b21351868f8e0150c7e0c0dcfec5",
    ),
    "Arabic with harakat": (
        "ذَهَبَ الطَّالِبُ إِلَى المَدْرَسَةِ فِي السَّاعَةِ ٨ صَبَاحًا",
        "f9d7505dcb83003736c35e7069270962",
        "cb2b004393a8dcda2c2818ebc6e105cd",
    ),
    "Hebrew with niqqud": (
        "שָׁלוֹם לְכֻלָּם, הַיּוֹם יוֹם שֵׁנִי",
        "0c722d72fd6e41cc6b9ab6ed7f46c445",
        "0243a3dd78c037fe43324db9b0233e32",
    ),
    "Greek capitals": (
        "Η ΑΘΗΝΑ ΕΙΝΑΙ Η ΠΡΩΤΕΥΟΥΣΑ ΤΗΣ ΕΛΛΑΔΑΣ",
        "613e93a973f81ab2f1573749aa58aa3d",
        "739a31df3d989f1be0d7225e7b3b8b35",
    ),
    "Turkish": (
        "İSTANBUL'DA IŞIK VE ILIK SU, KİTAPLAR",
        "a3971c575871414175291cdb5b1fc89d",
        "a19dccefd8f9e06df11a10f95e0909ca",
    ),
    "Russian with stress marks": (
        "На горе́ стои́т ста́рый за́мок, а на двери́ виси́т замо́к.",
        "1ab003e2244d53a4b8b48c7d77ee43e5",
        "f2f5f92decc2efa0451e5ff8a8326f86",
    ),
    "digits": (
        "٢٠٢٦ ۱۲۳ १२३४ ๕๖ ２０２６ ৭৮৯ total",
        "cd457e1a67e073cf225e5c0f0f344d02",
        "4f544d183f06386e7e577bf74f365902",
    ),
    "mixed": (
        "release 1.2 北京 서울에서 東京で notes: ภาษาไทย и русский",
        "1f663f9e78d13cad594c33aa5c77d20e",
        "17773c3c30d13da5494cb78a59dfd60e",
    ),
    "entities": (
        "Fish&nbsp;&amp;&nbsp;chips &#8211; caf&eacute; &#27721;&#x5B57; &amp;lt;b&amp;gt; AT&T",
        "680e7acffcc1fbf856230faca0d102ab",
        "372c784ccc17d852dd334e0360d994a1",
    ),
}


@pytest.mark.parametrize("kind", GOLDEN)
def test_golden_fingerprints(kind: str) -> None:
    text, third, second = GOLDEN[kind]
    for name, expected in (("default", third), ("default-2", second)):
        recipe = nd.Recipe.preset(name)
        assert f"{nd.fingerprint(text, recipe):032x}" == expected, name
        assert f"{reference.fingerprint(text, recipe):032x}" == expected, name


def test_versions_give_different_fingerprints() -> None:
    assert all(third != second for _, third, second in GOLDEN.values())
