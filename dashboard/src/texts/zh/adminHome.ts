import { limits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';
import type { Texts } from '..';

const days = limits.default_report_days;

export const adminHome: Texts['adminHome'] = {
  title: '管理概览',
  description: '所有人的消费，以及需要你处理的事项。',
  today: (zone: string) => `今日消费（${zone}）`,
  week: '最近 7 天消费',
  month: `最近 ${days} 天消费`,
  spend: { title: '每日消费', all: '全部用量' },
  users: { title: `${days} 天消费最高的用户`, all: '全部用量', empty: `最近 ${days} 天没有人消费。` },
  keys: { title: `${days} 天消费最高的密钥`, all: '全部用量', empty: `最近 ${days} 天没有使用任何密钥。` },
  attention: {
    noneHint:
      '没有密钥因额度、钱包或限额而无法使用。最近一小时没有密钥因此被拒绝，所有请求都按实际费用扣费。',
    held: {
      word: '按预扣扣费',
      noModel: '未指定模型',
      sentence: (count: number, reason: string, when: string) =>
        `最近一小时有 ${formatInteger(count)} 个请求按预扣金额扣费，最近一次是 ${when}：${reason}`,
      reasons: {
        model_not_priced: '模型或所用的计量单位没有价格。',
        invalid_count: '网关发送的数量不可能成立。',
        invalid_usage: '无法读取服务商返回的用量。',
        nothing_used: '没有计入任何用量。',
        no_input: '没有计入输入。',
        expired: '网关没有及时结算预扣。',
      },
      otherReason: (code: string) => `其他原因（${code}）。`,
    },
    stopped: (keys: number) => `${formatInteger(keys)} 个密钥无法使用`,
    newest: `仅统计最新的 ${formatInteger(limits.listed_tokens)} 个密钥。`,
  },
  share: (percent: string) => `占消费的 ${percent}%`,
  wallets: {
    title: '余额不足的钱包',
    all: '全部钱包',
    empty: (days: number) => `所有在消费的用户，余额都足够未来 ${days} 天使用。`,
    emptyBadge: '已用完',
    stopped: '充值之前，密钥无法使用。',
    spends: (usd: string) => `每天约消费 ${usd}。`,
    lasts: (days: number) => (days < 1 ? '按此速度不到一天用完' : `按此速度可用 ${days} 天`),
  },
  requests: {
    title: '待处理的申请',
    all: '全部申请',
    empty: '没有人在等待 API 权限。',
    more: (count: number) => `还有 ${count} 个申请待处理。`,
    answer: (username: string) => `批准 ${username} 的申请`,
    refuse: (username: string) => `拒绝 ${username} 的申请`,
  },
  locked: {
    title: `${limits.lockout_seconds / 3600} 小时内密码错误次数过多`,
    network: '个别网络的登录已被拒绝，用户仍可从其他网络登录。',
    newNetworks: '除用户曾经登录过的网络外，其他网络的登录均已被拒绝。运维人员可在命令行立即解除。',
    badges: { network: '网络被拒绝', newNetworks: '已锁定' },
    more: (count: number) => `还有 ${count} 个账户`,
  },
  imported: {
    title: '最近 30 天导入的管理员',
    all: '查看报告',
    from: (name: string) => `从 ${name} 导入。请只保留应当在这里管理他人的账户。`,
    more: (count: number) => `还有 ${formatInteger(count)} 位管理员`,
  },
  lostAnswers: {
    title: '最近 30 天数据库丢失的已答复操作',
    all: '审计日志',
    lost: (lost: string, lookedUp: string) =>
      `某台服务器最近 ${lookedUp} 条答复中有 ${lost} 条已丢失：没有同步备库的故障切换，或数据库恢复。`,
  },
  clock: {
    title: '最近 30 天计入错误日期的用量',
    all: '审计日志',
    moved: (from: string, to: string) => `数据库时钟曾经超前：计入 ${from} 的用量现已计入 ${to}。`,
  },
  gateways: {
    title: '网关',
    all: '全部网关',
    empty: '暂无网关。网关负责校验密钥并扣费。',
    seen: '上次连接',
    never: '从未使用',
    more: (count: number) => `还有 ${count} 个网关`,
  },
  health: {
    title: '服务器',
    ready: '正常',
    notReady: '未就绪',
    readyHint: '数据库可用。',
    version: '版本',
  },
};
