"""What is written on buttons and above lists: the key, in English, in Chinese."""

_TABLE = """
home | Home | 首页
search | Search | 搜索
login | Sign in | 登录
cart | Add to cart | 加入购物车
buy | Buy it now | 立即购买
reviews | Customer reviews | 用户评价
related | You may also like | 猜你喜欢
details | Product details | 商品详情
filter | Filter by | 筛选条件
sort | Sort results | 综合排序
empty | Your basket is empty | 您的购物车还是空的
continue | Continue shopping | 继续逛逛
missing | Sorry, the page you are looking for could not be found | 抱歉，您访问的页面不存在
back | Back to the start page | 返回首页
comments | Leave a comment | 发表评论
share | Share this article | 分享到
author | About the author | 关于作者
archive | Archive by month | 按月归档
read | Read more | 阅读全文
latest | Latest stories | 最新文章
reply | Reply to this topic | 回复本帖
posts | Posts | 帖子
joined | Member since | 注册时间
settings | Account settings | 账号设置
save | Save changes | 保存修改
users | Active users | 活跃用户
edit | Edit this page | 编辑本页
history | Revision history | 修订历史
contents | On this page | 本页目录
next | Next | 下一页
nothing | No results matched your search | 没有找到相关结果
"""
_ROWS = [line.split(" | ") for line in _TABLE.strip().splitlines()]
LABELS = {"en": {key: en for key, en, _ in _ROWS}, "zh": {key: zh for key, _, zh in _ROWS}}
