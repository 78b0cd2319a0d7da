"""Made-up prose in seven languages: words drawn by rank, as texts have them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from random import Random

_EN = """
the of and to in a is for that with on as it by at from are this be an which or was will has
have not can more one its all their about when up out new time than may other only into also
after house river garden market window paper stone winter summer bread machine bridge forest
harbour village engine letter kitchen copper silver marble orchard station cabin valley
meadow thunder compass lantern mirror pocket saddle ticket velvet whistle anchor basket
candle dragon feather glacier hammer island jacket kettle ladder magnet needle ocean pepper
quarry ribbon shadow temple umbrella violin wagon yellow zebra account balance budget branch
change client common course credit design detail device effort energy export family figure
finish future global growth handle import income inside leader length listen manage member
method modern moment motion narrow nation nature notice number object office online option
output people period person player policy public reason record region remote report result
return review sample school screen search second secure senior series server simple single
source spring square status stream street strong studio supply system target theory travel
update useful vision volume weekly window wonder worker writer annual battle beauty bottle
bright button camera carbon castle center chance charge choice circle clever cloudy coffee
colour corner cotton damage danger decade define degree demand dinner doctor double driver
early eight empty enjoy equal error event exact extra faith false field final first fixed
flame floor focus force frame fresh front fruit given glass grand grass green group guard
guess guide happy heart heavy horse hotel human image index inner input issue joint judge
known large laser later laugh layer learn least leave legal level light limit local logic
loose lower lucky lunch major match mayor meant media metal might minor mixed model money
month moral motor mount mouse mouth movie music naval night noise north novel nurse occur
offer order outer owner panel party peace phase phone photo piece pilot pitch place plain
plane plant plate point pound power press price pride prime print prior prize proof proud
prove queen quick quiet quite radio raise range rapid ratio reach ready refer right rival
roman rough round route royal rural scale scene scope score sense serve seven shall shape
share sharp sheet shelf shell shift shirt shock shoot short
"""

_ZH = """
的 了 在 是 和 有 我们 可以 他们 这个 一个 以及 通过 进行 使用 没有 如果 因为
所以 已经 河流 花园 市场 窗户 纸张 石头 冬天 夏天 面包 机器 大桥 森林 港口 村庄 引擎 信件
厨房 白银 果园 车站 山谷 草地 指南针 灯笼 镜子 口袋 车票 丝绒 口哨 篮子 蜡烛 羽毛 冰川 锤子
岛屿 外套 水壶 梯子 磁铁 海洋 胡椒 丝带 影子 雨伞 提琴 马车 黄色 账户 余额 预算 分支 变化
客户 课程 信用 设计 细节 设备 努力 能源 出口 家庭 数字 未来 全球 增长 处理 进口 收入 内部
领导 长度 管理 成员 方法 现代 时刻 运动 国家 自然 通知 对象 办公室 在线 选项 输出 人民 时期
选手 政策 公共 原因 记录 地区 远程 报告 结果 返回 评论 样品 学校 屏幕 搜索 安全 系列 服务器
简单 来源 春天 广场 状态 街道 强大 工作室 供应 系统 目标 理论 旅行 更新 有用 视野 音量 每周
工人 作家 年度 战斗 美丽 瓶子 明亮 按钮 相机 城堡 中心 机会 选择 圆圈 聪明 多云 咖啡 颜色
角落 棉花 损坏 危险 十年 定义 需求 晚餐 医生 双重 司机 早晨 空白 享受 平等 事件 精确 信念
领域 最终 固定 火焰 地板 焦点 力量 框架 新鲜 水果 玻璃 绿色 小组 守卫 指导 快乐 心脏 沉重
酒店 人类 图像 索引 输入 问题 法官 激光 图层 学习 法律 水平 灯光 限制 本地 逻辑 幸运 午餐
比赛 市长 媒体 金属 模型 月份 电影 音乐 夜晚 噪音 北方 小说 护士 订单 面板 和平 阶段 电话
照片 飞行员 地方 飞机 植物 盘子 价格 骄傲 印刷 证明 女王 安静 收音机
"""

_DE = """
der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an
werden aus er hat dass sie nach wird bei Haus Fluss Garten Markt Fenster Papier Stein Winter
Sommer Brot Maschine Brücke Wald Hafen Dorf Brief Küche Kupfer Silber Obst Bahnhof Hütte Tal
Wiese Donner Laterne Spiegel Tasche Sattel Karte Samt Pfeife Anker Korb Kerze Drache Feder
Gletscher Hammer Insel Jacke Kessel Leiter Nadel Meer Pfeffer Band Schatten Tempel Schirm
Geige Wagen Konto Haushalt Zweig Wandel Kunde Kurs Kredit Entwurf Gerät Mühe Kraft Familie
Zukunft Wachstum Einkommen Länge Mitglied Weise Natur Zahl Amt Regel Grund Gebiet Bericht
Ergebnis Schule Quelle Frühling Straße Ziel Reise schnell ruhig hell klein groß neu alt
frisch leicht schwer sicher einfach stark offen rund
"""

_FR = """
le la les de des et à en un une du que est pour dans qui sur au avec par plus ne pas son se
ce il sont ou comme mais maison rivière jardin marché fenêtre papier pierre hiver été pain
machine pont forêt port village moteur lettre cuisine cuivre argent verger gare cabane
vallée prairie tonnerre boussole lanterne miroir poche selle billet velours sifflet ancre
panier bougie dragon plume glacier marteau île veste bouilloire échelle aimant aiguille
océan poivre ruban ombre temple parapluie violon compte budget branche client cours crédit
dessin détail appareil effort énergie famille avenir croissance revenu longueur membre
méthode nature nombre bureau règle raison région rapport résultat école source printemps rue
but voyage rapide calme clair petit grand nouveau
"""

_ES = """
el la los de y a en un una que es por con para se del al lo como más pero sus su le ya o
este sí porque esta entre casa río jardín mercado ventana papel piedra invierno verano pan
máquina puente bosque puerto aldea motor carta cocina cobre plata huerto estación cabaña
valle prado trueno brújula farol espejo bolsillo silla boleto terciopelo silbato ancla cesta
vela dragón pluma glaciar martillo isla chaqueta tetera escalera imán aguja océano pimienta
cinta sombra templo paraguas violín cuenta presupuesto rama cliente curso crédito diseño
detalle aparato esfuerzo energía familia futuro crecimiento ingreso longitud miembro método
naturaleza número oficina regla razón región
"""

_RU = """
и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой от дом
река сад рынок окно бумага камень зима лето хлеб машина мост лес порт деревня мотор письмо
кухня медь серебро станция долина луг гром компас фонарь зеркало карман билет бархат якорь
корзина свеча дракон перо ледник молоток остров куртка чайник лестница магнит игла океан
перец лента тень храм зонт скрипка счёт бюджет ветка клиент курс кредит проект деталь прибор
усилие энергия семья будущее рост доход длина член метод природа число контора правило
причина область отчёт итог школа источник весна улица цель поездка быстрый тихий светлый
малый большой новый старый свежий лёгкий
"""

_JA = """
の に は を た が で て と し れ さ ある いる も する から な
こと として い や れる など なっ 川辺 庭園 市場 窓辺 用紙 石畳 冬空 夏空 機械 鉄橋 森林
港町 村里 手紙 台所 果樹園 駅前 谷間 草原 雷雨 羅針盤 提灯 鏡台 切符 口笛 籠 蝋燭 羽根 氷河
金槌 島々 上着 薬缶 梯子 磁石 海原 胡椒 影絵 神殿 雨傘 楽器 口座 予算 支店 変化 顧客 講座
信用 設計 詳細 装置 努力 家族 未来 成長 収入 全長 会員 方法 自然 数字 事務所 規則 理由 地域
報告 結果 学校 情報 春風 通り 目標 旅行 更新 図書 写真 電話 音楽 映画 料理 季節 天気 新聞
"""

_LISTS = {"en": _EN, "zh": _ZH, "de": _DE, "fr": _FR, "es": _ES, "ru": _RU, "ja": _JA}
_STOPS = {"zh": "。", "ja": "。"}
_COMMAS = {"zh": "，", "ja": "、"}


@dataclass(frozen=True)
class Language:
    """A vocabulary; `word` draws by rank, so that few words are most of a text."""

    code: str
    words: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def spaced(self) -> bool:
        return self.code not in _STOPS

    def word(self, random: Random) -> str:
        return random.choices(self.words, cum_weights=self.weights)[0]

    def name(self, random: Random, least: int = 2, most: int = 5) -> str:
        """A heading: words without the commonest."""
        count = random.randint(least, most)
        words = [random.choice(self.words[24:]) for _ in range(count)]
        if not self.spaced:
            return "".join(words)
        return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])

    def sentence(self, random: Random, least: int = 6, most: int = 18) -> str:
        words = random.choices(self.words, cum_weights=self.weights, k=random.randint(least, most))
        if len(words) > 9:
            middle = random.randint(3, len(words) - 4)
            words[middle] += _COMMAS.get(self.code, ",")
        joined = (" " if self.spaced else "").join(words)
        return joined[:1].upper() + joined[1:] + _STOPS.get(self.code, ".")

    def paragraph(self, random: Random, least: int = 2, most: int = 6) -> str:
        count = random.randint(least, most)
        return (" " if self.spaced else "").join(self.sentence(random) for _ in range(count))


def _language(code: str) -> Language:
    words = tuple(dict.fromkeys(_LISTS[code].split()))
    weights = accumulate(1 / (rank + 3) ** 0.8 for rank in range(len(words)))
    return Language(code, words, tuple(weights))


LANGUAGES = {code: _language(code) for code in _LISTS}
