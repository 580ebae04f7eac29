import type { Texts } from '..';

export const onboarding: Texts['onboarding'] = {
  progress: (done: string, all: string) => `已完成 ${done} / ${all} 步`,
  done: '（已完成）',
  dismiss: '隐藏这些步骤',
  user: {
    title: '开始使用',
    createAction: '创建密钥',
    copyAction: '查看密钥',
    steps: {
      create: {
        title: '创建你的第一个密钥',
        hint: '程序需要密钥才能调用 API。密钥的额度就是程序的消费上限。',
      },
      copy: {
        title: '把密钥复制到你的程序里',
        hint: '密钥页面有 curl、Python 和 Node.js 的示例。',
      },
      call: {
        title: '发出第一个请求',
        hint: '网关首次对密钥扣费后，此步骤即完成。',
      },
    },
  },
  administrator: {
    title: '设置 Keymeter',
    settingsAction: '查看设置',
    gatewayAction: '添加网关',
    usersAction: '添加账户',
    steps: {
      gateway: {
        title: '接入网关',
        hint: '你的 LLM 网关需要凭证，才能校验密钥并扣费。',
      },
      groups: {
        title: '定义分组',
        hint: '每个分组有各自的价格倍率。分组写在配置文件的 [groups] 中。',
      },
      models: {
        title: '列出模型',
        hint: '之后用户可以为密钥选择模型。对应的配置项是 models.names。',
      },
      users: {
        title: '添加用户',
        hint: '创建账户，并为他们的钱包充值。',
      },
    },
  },
};
