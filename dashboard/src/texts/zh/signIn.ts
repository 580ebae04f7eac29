import { requestLimits } from '../../api/serverLimits';
import type { Texts } from '..';

const { username, password } = requestLimits.NewUserBody;

export const signIn: Texts['signIn'] = {
  title: '登录',
  tagline: 'API 密钥与额度管理',
  username: '用户名',
  password: '密码',
  submit: '登录',
  tooMany: '尝试次数过多。请稍候再试。',
  submitIn: (seconds: string) => `${seconds} 秒后重试`,
  noCookie: {
    insecure:
      '密码正确，但浏览器没有保存会话 Cookie：服务器将它标记为 Secure，而此页面是通过 HTTP 打开的。请通过 HTTPS 打开，或在服务器上将 http.secure_cookies 设为 "never"。',
    blocked: '密码正确，但浏览器没有保存会话 Cookie。请允许此页面使用 Cookie，然后重新登录。',
  },
  noAccount: '还没有账户？',
  toRegister: '注册账户',
  ask: {
    password: '忘记密码？请联系',
    accountOrPassword: '没有账户或忘记密码？请联系',
  },
  again: {
    title: '重新登录',
    hint: (username: string) => `${username} 的登录已失效。你在此页输入的内容不会丢失。`,
    otherAccount: '使用其他账户',
  },
  register: {
    title: '注册账户',
    usernameHint: `最多 ${username.maxLength} 个字符，不含空格`,
    email: '邮箱',
    emailHint: '可选',
    passwordHint: `至少 ${password.minLength} 个字符`,
    submit: '注册',
    haveAccount: '已有账户？',
    toSignIn: '登录',
    closed: '注册已关闭。请向管理员申请账户。',
  },
};
