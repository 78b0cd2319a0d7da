"""Texts made from one form with other fields: weather reports, orders and notices by language."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

ASCII = "0123456789"


@dataclass(frozen=True)
class Forms:
    """Forms of one language. An order is missing where there is none."""

    places: str
    weather: str
    report: str
    notice: str
    order: str = ""
    digits: str = ASCII


def reports(forms: Forms, count: int, seed: int = 1) -> list[str]:
    """Return different weather reports."""
    return _different(lambda rng: _report(forms, rng), count, seed)


def orders(forms: Forms, count: int, seed: int = 1) -> list[str]:
    """Return different confirmations of orders."""
    return _different(lambda rng: _order(forms, rng), count, seed)


def notice(forms: Forms, hour: int) -> str:
    """Return the notice of a meeting at an hour."""
    return _fill(forms, forms.notice, {"hour": str(hour)})


def _report(forms: Forms, rng: random.Random) -> str:
    numbers = {
        "day": rng.randint(2, 30),
        "low": rng.randint(11, 19),
        "high": rng.randint(21, 34),
        "wind": rng.randint(11, 39),
        "gusts": rng.randint(41, 79),
        "humidity": rng.randint(31, 98),
        "pressure": rng.randint(985, 1035),
        "chance": rng.randint(11, 95),
        "hour": rng.randint(12, 21),
        "rain": rng.randint(2, 40),
    }
    fields = {name: str(number) for name, number in numbers.items()}
    fields["weather"] = rng.choice(forms.weather.split(", "))
    return _fill(forms, forms.report, {**fields, "place": rng.choice(forms.places.split(", "))})


def _order(forms: Forms, rng: random.Random) -> str:
    numbers = {
        "order": rng.randint(10_000_000, 99_999_999),
        "count": rng.randint(11, 60),
        "day": rng.randint(2, 30),
        "arrival": rng.randint(2, 30),
        "total": rng.randint(1_000, 9_999),
        "delivery": rng.randint(11, 49),
        "card": rng.randint(1_000, 9_999),
        "parcel": rng.randint(100_000_000_000, 999_999_999_999),
    }
    fields = {name: str(number) for name, number in numbers.items()}
    return _fill(forms, forms.order, {**fields, "place": rng.choice(forms.places.split(", "))})


def _fill(forms: Forms, form: str, fields: dict[str, str]) -> str:
    return form.format(**fields).translate(str.maketrans(ASCII, forms.digits))


def _different(make: Callable[[random.Random], str], count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[make(rng)] = None
    return list(texts)


FORMS = {
    "en": Forms(
        places="Leeds, Bristol, Norwich, Plymouth, Cardiff, Dundee, Exeter, Lincoln, Oxford, York",
        weather="sunny, cloudy, rainy, foggy, stormy, windy",
        report="{place}, {day} September. Today will be mostly {weather}, with temperatures"
        " between {low} and {high} degrees. The wind will blow from the west at {wind} km/h, with"
        " gusts of up to {gusts} km/h in the afternoon. Humidity is {humidity} percent and air"
        " pressure {pressure} hPa. The chance of rain is {chance} percent; up to {rain} mm may"
        " fall after {hour} o'clock.",
        notice="The budget committee meets on Tuesday, 12 May, at {hour}:00 in room 204. Anna"
        " Schmidt and Tom Baker will present the plan for next year.",
        order="Thank you for your order {order}. We sent {count} items from our warehouse in"
        " {place} on {day} September. The total of {total} euros, including {delivery} euros for"
        " delivery, was charged to your card ending in {card}. Your parcel {parcel} should arrive"
        " by {arrival} October. If anything is missing, please reply to this message.",
    ),
    "de": Forms(
        places="Kassel, Bremen, Leipzig, Rostock, Erfurt, Mainz, Augsburg, Köln, Trier, Münster",
        weather="sonnig, bewölkt, regnerisch, neblig, stürmisch, gewittrig",
        report="{place}, {day}. September. Der Tag wird überwiegend {weather}, die Temperaturen"
        " liegen zwischen {low} und {high} Grad. Der Wind weht mit {wind} km/h aus West, am"
        " Nachmittag sind Böen bis {gusts} km/h möglich. Die Luftfeuchtigkeit beträgt {humidity}"
        " Prozent, der Luftdruck {pressure} Hektopascal. Die Regenwahrscheinlichkeit liegt bei"
        " {chance} Prozent; ab {hour} Uhr können bis zu {rain} Liter Regen pro Quadratmeter"
        " fallen.",
        notice="Der Haushaltsausschuss tagt am Dienstag, dem 12. Mai, um {hour} Uhr in Raum 204."
        " Anna Schmidt und Thomas Becker stellen den Plan für das nächste Jahr vor.",
    ),
    "fr": Forms(
        places="Lyon, Nantes, Lille, Rennes, Dijon, Bordeaux, Toulouse, Reims, Angers, Nancy",
        weather="ensoleillée, nuageuse, pluvieuse, brumeuse, orageuse, venteuse",
        report="{place}, le {day} septembre. La journée sera plutôt {weather}, avec des"
        " températures comprises entre {low} et {high} degrés. Le vent d'ouest soufflera à {wind}"
        " km/h, avec des rafales jusqu'à {gusts} km/h dans l'après-midi. L'humidité atteindra"
        " {humidity} % et la pression {pressure} hPa. Le risque de pluie est de {chance} % ; il"
        " pourrait tomber jusqu'à {rain} mm après {hour} heures.",
        notice="La commission du budget se réunit le mardi 12 mai à {hour} heures, salle 204."
        " Anne Lefèvre et Thomas Moreau présenteront le projet pour l'année prochaine.",
        order="Merci pour votre commande {order}. Nous avons expédié {count} articles depuis notre"
        " entrepôt de {place} le {day} septembre. Le montant de {total} euros, dont {delivery}"
        " euros de livraison, a été débité de votre carte se terminant par {card}. Votre colis"
        " {parcel} devrait arriver avant le {arrival} octobre. S'il manque un article, répondez à"
        " ce message.",
    ),
    "es": Forms(
        places="Sevilla, Zaragoza, Murcia, Valencia, Burgos, Toledo, Granada, Bilbao, Cádiz, León",
        weather="soleado, nublado, lluvioso, brumoso, tormentoso, ventoso",
        report="{place}, {day} de septiembre. El día será mayormente {weather}, con temperaturas"
        " de entre {low} y {high} grados. El viento soplará del oeste a {wind} km/h, con rachas de"
        " hasta {gusts} km/h por la tarde. La humedad será del {humidity} % y la presión de"
        " {pressure} hPa. La probabilidad de lluvia es del {chance} %; podrían caer hasta {rain} mm"
        " a partir de las {hour} horas.",
        notice="La comisión de presupuestos se reúne el martes 12 de mayo a las {hour} horas en la"
        " sala 204. Ana Romero y Tomás Ortega presentarán el plan del próximo año.",
        order="Gracias por su pedido {order}. El {day} de septiembre enviamos {count} artículos"
        " desde nuestro almacén de {place}. El importe de {total} euros, incluidos {delivery} euros"
        " de envío, se ha cargado en su tarjeta terminada en {card}. Su paquete {parcel} llegará"
        " antes del {arrival} de octubre. Si falta algo, responda a este mensaje.",
    ),
    "pt": Forms(
        places="Lisboa, Braga, Coimbra, Évora, Faro, Leiria, Aveiro, Setúbal, Viseu, Guarda",
        weather="soalheiro, nublado, chuvoso, enevoado, tempestuoso, ventoso",
        report="{place}, {day} de setembro. O dia será predominantemente {weather}, com"
        " temperaturas entre {low} e {high} graus. O vento soprará de oeste a {wind} km/h, com"
        " rajadas de até {gusts} km/h durante a tarde. A humidade será de {humidity} % e a pressão"
        " de {pressure} hPa. A probabilidade de chuva é de {chance} %; podem cair até {rain} mm"
        " depois das {hour} horas.",
        notice="A comissão do orçamento reúne-se na terça-feira, 12 de maio, às {hour} horas na"
        " sala 204. Ana Ferreira e Tomás Carvalho apresentam o plano para o próximo ano.",
        order="Obrigado pela sua encomenda {order}. No dia {day} de setembro enviámos {count}"
        " artigos do nosso armazém em {place}. O total de {total} euros, incluindo {delivery} euros"
        " de portes, foi debitado no seu cartão terminado em {card}. A sua encomenda {parcel} deve"
        " chegar até {arrival} de outubro. Se faltar algum artigo, responda a esta mensagem.",
    ),
    "it": Forms(
        places="Torino, Bologna, Verona, Parma, Perugia, Ancona, Pescara, Bari, Catania, Trieste",
        weather="soleggiata, nuvolosa, piovosa, nebbiosa, ventosa, temporalesca",
        report="{place}, {day} settembre. La giornata sarà prevalentemente {weather}, con"
        " temperature comprese tra {low} e {high} gradi. Il vento soffierà da ovest a {wind} km/h,"
        " con raffiche fino a {gusts} km/h nel pomeriggio. L'umidità sarà del {humidity} % e la"
        " pressione di {pressure} hPa. La probabilità di pioggia è del {chance} %; dopo le ore"
        " {hour} potranno cadere fino a {rain} mm.",
        notice="La commissione bilancio si riunisce martedì 12 maggio alle ore {hour} nella sala"
        " 204. Anna Ferrari e Tommaso Conti presenteranno il piano per il prossimo anno.",
    ),
    "ru": Forms(
        places="Казань, Самара, Пермь, Омск, Тула, Воронеж, Саратов, Рязань, Томск, Псков",
        weather="солнечная, облачная, дождливая, туманная, ветреная, прохладная",
        report="{place}, {day} сентября. Сегодня в городе ожидается {weather} погода, температура"
        " воздуха днём составит {high} °C, ночью {low} °C. Ветер западный, {wind} км/ч, во второй"
        " половине дня порывы до {gusts} км/ч. Влажность воздуха {humidity} %, атмосферное давление"
        " {pressure} гПа. Вероятность осадков {chance} %, после {hour}:00 может выпасть до {rain}"
        " мм дождя.",
        notice="Заседание бюджетного комитета состоится во вторник, 12 мая, в {hour}:00 в кабинете"
        " 204. План на следующий год представят Анна Смирнова и Павел Козлов.",
        order="Спасибо за ваш заказ {order}. Товары ({count} шт.) отправлены {day} сентября со"
        " склада: {place}. Сумма {total} руб., включая доставку {delivery} руб., списана с вашей"
        " карты, номер которой оканчивается на {card}. Посылка {parcel} должна прибыть до {arrival}"
        " октября. Если чего-то не хватает, ответьте на это письмо.",
    ),
    "uk": Forms(
        places="Київ, Львів, Полтава, Вінниця, Суми, Луцьк, Одеса, Чернігів, Ужгород, Рівне",
        weather="сонячна, хмарна, дощова, туманна, вітряна, прохолодна",
        report="{place}, {day} вересня. Сьогодні в місті очікується {weather} погода, температура"
        " повітря вдень становитиме {high} °C, уночі {low} °C. Вітер західний, {wind} км/год, у"
        " другій половині дня пориви до {gusts} км/год. Вологість повітря {humidity} %,"
        " атмосферний тиск {pressure} гПа. Імовірність опадів {chance} %, після {hour}:00 може"
        " випасти до {rain} мм дощу.",
        notice="Засідання бюджетного комітету відбудеться у вівторок, 12 травня, о {hour}:00 в"
        " кабінеті 204. План на наступний рік представлять Ганна Шевчук і Павло Бойко.",
    ),
    "pl": Forms(
        places="Kraków, Lublin, Gdańsk, Opole, Toruń, Szczecin, Radom, Kielce, Poznań, Łódź",
        weather="słonecznie, pochmurno, deszczowo, mgliście, wietrznie, burzowo",
        report="{place}, {day} września. Dziś będzie przeważnie {weather}, a temperatura wyniesie"
        " od {low} do {high} stopni. Wiatr zachodni będzie wiał z prędkością {wind} km/h, a po"
        " południu w porywach do {gusts} km/h. Wilgotność powietrza wyniesie {humidity} proc., a"
        " ciśnienie {pressure} hPa. Prawdopodobieństwo opadów to {chance} proc.; po godzinie {hour}"
        " może spaść do {rain} mm deszczu.",
        notice="Komisja budżetowa zbierze się we wtorek 12 maja o godzinie {hour} w sali 204. Anna"
        " Nowak i Tomasz Wójcik przedstawią plan na przyszły rok.",
    ),
    "tr": Forms(
        places="Ankara, İzmir, Bursa, Konya, Adana, Kayseri, Samsun, Trabzon, Antalya, Eskişehir",
        weather="güneşli, bulutlu, yağmurlu, sisli, rüzgârlı, fırtınalı",
        report="{place}, {day} Eylül. Bugün hava çoğunlukla {weather} olacak, sıcaklık gece {low},"
        " gündüz {high} derece civarında seyredecek. Rüzgâr batıdan saatte {wind} kilometre hızla"
        " esecek, öğleden sonra hızı zaman zaman {gusts} kilometreye ulaşacak. Nem oranı yüzde"
        " {humidity}, hava basıncı {pressure} hPa olarak bekleniyor. Yağış olasılığı yüzde"
        " {chance}; saat {hour}.00 sonrasında metrekareye {rain} kilograma kadar yağmur düşebilir.",
        notice="Bütçe komisyonu 12 Mayıs Salı günü saat {hour}.00'te 204 numaralı salonda"
        " toplanacak. Gelecek yılın planını Ayşe Yılmaz ve Mehmet Demir sunacak.",
    ),
    "el": Forms(
        places="Αθήνα, Πάτρα, Βόλος, Λάρισα, Χανιά, Καβάλα, Ιωάννινα, Σέρρες, Δράμα, Ρόδος",
        weather="αίθριος, νεφελώδης, βροχερός, ομιχλώδης, θυελλώδης, άστατος",
        report="{place}, {day} Σεπτεμβρίου. Ο καιρός σήμερα θα είναι κυρίως {weather}, με"
        " θερμοκρασίες από {low} έως {high} βαθμούς. Οι άνεμοι θα πνέουν δυτικοί με {wind} χλμ. την"
        " ώρα και το απόγευμα οι ριπές θα φτάσουν τα {gusts} χλμ. την ώρα. Η υγρασία θα είναι στο"
        " {humidity} % και η ατμοσφαιρική πίεση στα {pressure} hPa. Η πιθανότητα βροχής είναι"
        " {chance} %, ενώ μετά τις {hour}:00 μπορεί να πέσουν έως {rain} χιλιοστά.",
        notice="Η επιτροπή προϋπολογισμού συνεδριάζει την Τρίτη 12 Μαΐου στις {hour}:00 στην"
        " αίθουσα 204. Η Άννα Παππά και ο Νίκος Δήμου θα παρουσιάσουν το σχέδιο για το επόμενο"
        " έτος.",
    ),
    "ar": Forms(
        places="القاهرة, الرياض, دمشق, بغداد, عمان, الخرطوم, تونس, الرباط, الدوحة, مسقط",
        weather="مشمسا, غائما, ماطرا, ضبابيا, عاصفا, معتدلا",
        report="{place}، {day} سبتمبر. يكون الطقس اليوم {weather} في معظم الأوقات، وتتراوح درجات"
        " الحرارة بين {low} و{high} درجة مئوية. تهب الرياح من جهة الغرب بسرعة {wind} كيلومترا في"
        " الساعة، وتصل الهبات بعد الظهر إلى {gusts} كيلومترا في الساعة. تبلغ الرطوبة {humidity} في"
        " المئة والضغط الجوي {pressure} هكتوباسكال. أما احتمال هطول الأمطار فيبلغ {chance} في"
        " المئة، وقد تصل الكمية إلى {rain} ملم بعد الساعة {hour}.",
        notice="تجتمع لجنة الموازنة يوم الثلاثاء 12 مايو في الساعة {hour} في القاعة 204. وتعرض"
        " منى حداد وسامر خوري خطة العام المقبل.",
        order="شكرا لطلبكم رقم {order}. أرسلنا {count} منتجا من مستودعنا في {place} بتاريخ {day}"
        " سبتمبر. تم خصم مبلغ {total} دولار، بما فيه {delivery} دولارا للتوصيل، من بطاقتكم"
        " المنتهية بالأرقام {card}. من المتوقع أن يصل الطرد رقم {parcel} قبل {arrival} أكتوبر. إذا"
        " كان هناك نقص فيرجى الرد على هذه الرسالة.",
    ),
    "he": Forms(
        places="חיפה, אשדוד, נתניה, צפת, טבריה, אילת, עכו, רחובות, ירושלים, נצרת",
        weather="שמשי, מעונן, גשום, ערפילי, סוער, נאה",
        report="{place}, {day} בספטמבר. מזג האוויר יהיה {weather} ברוב שעות היום, והטמפרטורות"
        " ינועו בין {low} ל-{high} מעלות. הרוח תנשב ממערב במהירות {wind} קמ״ש, ואחר הצהריים צפויים"
        " משבים של עד {gusts} קמ״ש. הלחות תעמוד על {humidity} אחוזים ולחץ האוויר על {pressure}"
        " הקטופסקל. הסיכוי לגשם הוא {chance} אחוזים, ולאחר השעה {hour}:00 עשויים לרדת עד {rain}"
        " מ״מ.",
        notice="ועדת התקציב תתכנס ביום שלישי, 12 במאי, בשעה {hour}:00 בחדר 204. נועה כהן ודוד לוי"
        " יציגו את התוכנית לשנה הבאה.",
    ),
    "fa": Forms(
        places="تهران, شیراز, اصفهان, تبریز, مشهد, کرمان, یزد, رشت, اهواز, همدان",
        weather="آفتابی, ابری, بارانی, مه‌آلود, توفانی, خنک",
        report="{place}، {day} شهریور. هوای امروز بیشتر {weather} خواهد بود و دمای هوا بین {low} تا"
        " {high} درجه سانتی‌گراد پیش‌بینی می‌شود. باد از سمت غرب با سرعت {wind} کیلومتر بر ساعت"
        " می‌وزد و بعدازظهر تندبادهایی تا {gusts} کیلومتر بر ساعت انتظار می‌رود. رطوبت هوا"
        " {humidity} درصد و فشار هوا {pressure} هکتوپاسکال است. احتمال بارندگی {chance} درصد است و"
        " پس از ساعت {hour} ممکن است تا {rain} میلی‌متر باران ببارد.",
        notice="کمیسیون بودجه روز سه‌شنبه 12 مرداد ساعت {hour} در اتاق 204 تشکیل جلسه می‌دهد. مریم"
        " احمدی و رضا کریمی برنامه سال آینده را ارائه می‌کنند.",
        digits="۰۱۲۳۴۵۶۷۸۹",
    ),
    "hi": Forms(
        places="जयपुर, भोपाल, पटना, लखनऊ, इंदौर, रायपुर, राँची, आगरा, वाराणसी, देहरादून",
        weather="साफ़, सुहावना, गर्म, ठंडा, बरसाती, तूफ़ानी",
        report="{place}, {day} सितंबर। आज शहर में मौसम ज़्यादातर {weather} रहेगा और तापमान {low} से"
        " {high} डिग्री सेल्सियस के बीच रहने का अनुमान है। हवा पश्चिम दिशा से {wind} किलोमीटर प्रति"
        " घंटे की रफ़्तार से चलेगी और दोपहर बाद झोंके {gusts} किलोमीटर प्रति घंटे तक पहुँच सकते"
        " हैं। हवा में नमी {humidity} प्रतिशत और वायुदाब {pressure} हेक्टोपास्कल रहेगा। बारिश की"
        " संभावना {chance} प्रतिशत है और {hour} बजे के बाद {rain} मिलीमीटर तक बारिश हो सकती है।",
        notice="बजट समिति की बैठक मंगलवार, 12 मई को {hour} बजे कमरा नंबर 204 में होगी। अगले साल की"
        " योजना अनीता शर्मा और राजेश वर्मा पेश करेंगे।",
        order="आपके ऑर्डर {order} के लिए धन्यवाद। हमने {day} सितंबर को {place} के गोदाम से {count}"
        " वस्तुएँ भेज दी हैं। कुल {total} रुपये, जिसमें {delivery} रुपये डिलीवरी शुल्क शामिल है,"
        " आपके {card} पर समाप्त होने वाले कार्ड से लिए गए हैं। आपका पार्सल {parcel} {arrival}"
        " अक्टूबर तक पहुँच जाना चाहिए। यदि कुछ कम हो तो कृपया इस संदेश का उत्तर दें।",
    ),
    "th": Forms(
        places="เชียงใหม่, ขอนแก่น, ภูเก็ต, อุดรธานี, ระยอง, ลำปาง, สงขลา, ตรัง, พิษณุโลก, น่าน",
        weather="แจ่มใส, มีเมฆมาก, มีฝนตก, มีหมอก, ร้อนอบอ้าว, แปรปรวน",
        report="{place} วันที่ {day} กันยายน วันนี้สภาพอากาศ{weather}เกือบตลอดวัน อุณหภูมิต่ำสุด"
        " {low} องศาเซลเซียส สูงสุด {high} องศาเซลเซียส ลมตะวันตกพัดด้วยความเร็ว {wind}"
        " กิโลเมตรต่อชั่วโมง ช่วงบ่ายมีลมกระโชกแรงถึง {gusts} กิโลเมตรต่อชั่วโมง"
        " ความชื้นในอากาศร้อยละ {humidity} ความกดอากาศ {pressure} เฮกโตปาสกาล"
        " มีโอกาสเกิดฝนร้อยละ {chance} และหลังเวลา {hour}.00 น. อาจมีปริมาณฝนถึง {rain} มิลลิเมตร",
        notice="คณะกรรมการงบประมาณจะประชุมในวันอังคารที่ 12 พฤษภาคม เวลา {hour}.00 น. ณ ห้อง 204"
        " โดยสมชาย ใจดี และมาลี ศรีสุข จะนำเสนอแผนงานของปีหน้า",
    ),
    "ko": Forms(
        places="서울, 부산, 대구, 광주, 대전, 전주, 춘천, 강릉, 제주, 청주",
        weather="맑겠고, 흐리겠고, 비가 오겠고, 안개가 끼겠고, 바람이 강하겠고, 포근하겠고",
        report="{place}, 9월 {day}일. 오늘은 대체로 {weather} 아침 최저기온은 {low}도, 낮"
        " 최고기온은 {high}도로 예상됩니다. 서풍이 시속 {wind}km로 불겠고 오후에는 순간풍속이 시속"
        " {gusts}km까지 강해지겠습니다. 습도는 {humidity}%, 기압은 {pressure}hPa로 관측됐습니다."
        " 비가 올 확률은 {chance}%이며 {hour}시 이후에는 지역에 따라 최대 {rain}mm의 비가"
        " 내리겠으니 외출할 때 우산을 챙기시기 바랍니다.",
        notice="예산위원회는 5월 12일 화요일 {hour}시에 204호 회의실에서 열립니다. 김민수 과장과"
        " 이지은 대리가 내년 계획을 발표합니다.",
    ),
    "ja": Forms(
        places="札幌, 仙台, 新潟, 金沢, 静岡, 岡山, 広島, 松山, 熊本, 那覇",
        weather="よく晴れた, 雲の多い, 雨の降りやすい, 霧の出やすい, 風の強い, 蒸し暑い",
        report="{place}、9月{day}日。きょうは{weather}一日となるでしょう。最低気温は{low}度、最高気温は"
        "{high}度の予想です。西の風が時速{wind}キロで吹き、午後は最大瞬間で時速{gusts}キロに達する見込み"
        "です。湿度は{humidity}パーセント、気圧は{pressure}ヘクトパスカル。降水確率は{chance}パーセントで、"
        "{hour}時以降は多いところで{rain}ミリの雨が降るおそれがあります。",
        notice="予算委員会は5月12日火曜日の{hour}時から204会議室で開かれます。来年度の計画は田中恵子さんと"
        "鈴木一郎さんが説明します。",
        order="ご注文{order}をいただきありがとうございます。{day}日に{place}の倉庫から商品{count}点を発送"
        "いたしました。合計{total}円、うち送料{delivery}円を、末尾{card}のカードにご請求いたしました。"
        "お荷物{parcel}は10月{arrival}日までに到着する予定です。不足がございましたら、このメールにご返信"
        "ください。",
    ),
    "zh": Forms(
        places="沈阳, 西安, 成都, 昆明, 长沙, 合肥, 郑州, 兰州, 厦门, 青岛",
        weather="晴朗, 多云, 有小雨, 有雾, 有大风, 有雷阵雨",
        report="{place}9月{day}日天气：今天白天{weather}，最低气温{low}摄氏度，最高气温{high}摄氏度。偏西"
        "风，风速每小时{wind}公里，午后阵风可达每小时{gusts}公里。相对湿度百分之{humidity}，气压{pressure}"
        "百帕。降水概率为{chance}%，{hour}时以后部分地区雨量可达{rain}毫米，请市民外出时注意携带雨具。",
        notice="预算委员会定于5月12日星期二{hour}时在204会议室开会。明年的计划由王丽华和李建国介绍。",
        order="感谢您的订单{order}。我们已于9月{day}日从{place}仓库发出{count}件商品。总金额{total}元，其中"
        "运费{delivery}元，已从您尾号为{card}的银行卡中扣除。您的包裹{parcel}预计在10月{arrival}日前送达。"
        "如有缺件，请直接回复本邮件。",
    ),
    "zh-hant": Forms(
        places="臺北, 臺中, 臺南, 高雄, 花蓮, 宜蘭, 嘉義, 新竹, 屏東, 基隆",
        weather="晴朗, 多雲, 有短暫雨, 有霧, 風勢強勁, 有雷陣雨",
        report="{place}9月{day}日訊：氣象署表示，今天白天{weather}，低溫{low}度，高溫{high}度。吹偏西風，"
        "時速{wind}公里，午後陣風可達時速{gusts}公里。相對濕度百分之{humidity}，氣壓{pressure}百帕。降雨"
        "機率為{chance}%，{hour}時以後局部地區雨量可達{rain}毫米，提醒民眾外出攜帶雨具。",
        notice="預算委員會訂於5月12日星期二{hour}時在204會議室開會，明年的計畫由王麗華和李建國說明。",
    ),
    "vi": Forms(
        places="Hà Nội, Đà Nẵng, Huế, Cần Thơ, Vinh, Nha Trang, Đà Lạt, Hải Phòng, Cà Mau, Lào Cai",
        weather="nắng đẹp, nhiều mây, có mưa rào, có sương mù, oi bức, có dông",
        report="{place}, ngày {day} tháng 9. Hôm nay trời {weather}, nhiệt độ thấp nhất {low} độ,"
        " cao nhất {high} độ. Gió tây thổi với tốc độ {wind} km/giờ, buổi chiều có lúc giật mạnh"
        " đến {gusts} km/giờ. Độ ẩm không khí ở mức {humidity} phần trăm, khí áp {pressure} hPa."
        " Khả năng có mưa là {chance} phần trăm, sau {hour} giờ lượng mưa có thể tới {rain} mm.",
        notice="Ủy ban ngân sách họp vào thứ Ba, ngày 12 tháng 5, lúc {hour} giờ tại phòng 204. Bà"
        " Nguyễn Thị Lan và ông Trần Văn Minh sẽ trình bày kế hoạch năm tới.",
    ),
    "my": Forms(
        places="ရန်ကုန်, မန္တလေး, ပဲခူး, မော်လမြိုင်, ပုသိမ်, တောင်ကြီး, မကွေး, ထားဝယ်, စစ်တွေ, လားရှိုး",
        weather="နေသာ, တိမ်ထူ, မိုးရွာ, မြူဆိုင်း, လေထန်, ပူအိုက်",
        report="{place}၊ စက်တင်ဘာလ {day} ရက်။ ယနေ့ မြို့ပေါ်တွင် {weather}ပြီး အနိမ့်ဆုံးအပူချိန်"
        " {low} ဒီဂရီ၊ အမြင့်ဆုံးအပူချိန် {high} ဒီဂရီ ရှိမည်။ အနောက်လေသည် တစ်နာရီလျှင် {wind}"
        " ကီလိုမီတာနှုန်းဖြင့် တိုက်ခတ်ပြီး မွန်းလွဲပိုင်းတွင် {gusts} ကီလိုမီတာအထိ"
        " ပြင်းထန်နိုင်သည်။ စိုထိုင်းဆ {humidity} ရာခိုင်နှုန်းနှင့် လေဖိအား {pressure}"
        " ဟက်တိုပါစကယ် ရှိသည်။ မိုးရွာနိုင်ခြေ {chance} ရာခိုင်နှုန်း ရှိပြီး {hour}"
        " နာရီနောက်ပိုင်း မိုးရေချိန် {rain} မီလီမီတာအထိ ရွာနိုင်သည်။",
        notice="ဘတ်ဂျက်ကော်မတီ အစည်းအဝေးကို မေလ 12 ရက် အင်္ဂါနေ့ {hour} နာရီတွင် အခန်း 204"
        " ၌ ကျင်းပမည်။ ဒေါ်အေးအေးမြင့်နှင့် ဦးကျော်မင်းတို့က လာမည့်နှစ် အစီအစဉ်ကို တင်ပြမည်။",
        digits="၀၁၂၃၄၅၆၇၈၉",
    ),
    "km": Forms(
        places="ភ្នំពេញ, សៀមរាប, បាត់ដំបង, កំពត, កែប, តាកែវ, ក្រចេះ, ពោធិ៍សាត់, ប៉ៃលិន, ស្វាយរៀង",
        weather="ស្រឡះល្អ, មានពពកច្រើន, មានភ្លៀងធ្លាក់, មានអ័ព្ទ, មានខ្យល់ខ្លាំង, ក្តៅខ្លាំង",
        report="{place} ថ្ងៃទី{day} ខែកញ្ញា។ ថ្ងៃនេះ អាកាសធាតុ{weather} សីតុណ្ហភាពទាបបំផុត {low}"
        " អង្សាសេ និងខ្ពស់បំផុត {high} អង្សាសេ។ ខ្យល់បក់ពីទិសខាងលិចក្នុងល្បឿន {wind}"
        " គីឡូម៉ែត្រក្នុងមួយម៉ោង ហើយនៅពេលរសៀលអាចកើនដល់ {gusts} គីឡូម៉ែត្រក្នុងមួយម៉ោង។"
        " សំណើមខ្យល់មាន {humidity} ភាគរយ និងសម្ពាធបរិយាកាស {pressure} ហិចតូប៉ាស្កាល់។"
        " លទ្ធភាពមានភ្លៀង {chance} ភាគរយ ហើយក្រោយម៉ោង {hour} បរិមាណទឹកភ្លៀងអាចឡើងដល់ {rain} មីលីម៉ែត្រ។",
        notice="គណៈកម្មាធិការថវិកានឹងប្រជុំនៅថ្ងៃអង្គារ ទី12 ខែឧសភា វេលាម៉ោង {hour} នៅបន្ទប់លេខ"
        " 204។ លោក សុខ វិសាល និងអ្នកស្រី ចាន់ ធីតា នឹងបង្ហាញផែនការសម្រាប់ឆ្នាំក្រោយ។",
        digits="០១២៣៤៥៦៧៨៩",
    ),
    "id": Forms(
        places="Bandung, Surabaya, Medan, Padang, Malang, Makassar, Manado, Jambi, Kupang, Ambon",
        weather="cerah, berawan, hujan, berkabut, berangin, mendung",
        report="{place}, {day} September. Cuaca hari ini umumnya {weather}, dengan suhu antara"
        " {low} dan {high} derajat Celsius. Angin bertiup dari barat dengan kecepatan {wind}"
        " km/jam, dan pada sore hari dapat mencapai {gusts} km/jam. Kelembapan udara {humidity}"
        " persen dan tekanan udara {pressure} hPa. Peluang hujan {chance} persen; setelah pukul"
        " {hour}.00 curah hujan dapat mencapai {rain} mm.",
        notice="Komisi anggaran bersidang pada hari Selasa, 12 Mei, pukul {hour}.00 di ruang 204."
        " Rencana tahun depan akan dipaparkan oleh Siti Rahayu dan Budi Santoso.",
        order="Terima kasih atas pesanan Anda {order}. Kami telah mengirim {count} barang dari"
        " gudang kami di {place} pada tanggal {day} September. Jumlah {total} ribu rupiah, termasuk"
        " ongkos kirim {delivery} ribu rupiah, telah ditagihkan ke kartu Anda yang berakhiran"
        " {card}. Paket {parcel} diperkirakan tiba sebelum {arrival} Oktober. Jika ada yang kurang,"
        " silakan balas pesan ini.",
    ),
    "fi": Forms(
        places="Tampere, Turku, Oulu, Lahti, Kuopio, Pori, Vaasa, Joensuu, Kotka, Rovaniemi",
        weather="aurinkoinen, pilvinen, sateinen, sumuinen, tuulinen, viileä",
        report="{place}, {day}. syyskuuta. Tänään sää on enimmäkseen {weather}, ja lämpötila"
        " vaihtelee {low} ja {high} asteen välillä. Länsituuli puhaltaa {wind} kilometriä tunnissa,"
        " ja iltapäivällä puuskat voivat yltää {gusts} kilometriin tunnissa. Ilmankosteus on"
        " {humidity} prosenttia ja ilmanpaine {pressure} hehtopascalia. Sateen todennäköisyys on"
        " {chance} prosenttia, ja kello {hour} jälkeen vettä voi sataa jopa {rain} millimetriä.",
        notice="Budjettivaliokunta kokoontuu tiistaina 12. toukokuuta kello {hour} huoneessa 204."
        " Ensi vuoden suunnitelman esittelevät Anna Virtanen ja Tuomas Korhonen.",
    ),
}
