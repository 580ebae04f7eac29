import { requestLimits } from '../../api/serverLimits';

const { username, password } = requestLimits.NewUserBody;

export const signIn = {
  title: 'Sign in',
  tagline: 'API keys with quotas',
  username: 'Username',
  password: 'Password',
  submit: 'Sign in',
  tooMany: 'Too many attempts. Wait a moment, then try again.',
  submitIn: (seconds: string) => `Try again in ${seconds} s`,
  noCookie: {
    insecure:
      'The password is right, but the browser did not keep the session cookie: the server marks it Secure, and this page is open over plain HTTP. Open it over https, or set http.secure_cookies to "never" on the server.',
    blocked:
      'The password is right, but the browser did not keep the session cookie. Allow cookies for this page, then sign in again.',
  },
  noAccount: 'No account yet?',
  toRegister: 'Create one',
  ask: {
    password: 'Forgot your password? Ask',
    accountOrPassword: 'No account, or forgot your password? Ask',
  },
  again: {
    title: 'Sign in again',
    hint: (username: string) => `${username}’s session has ended. What you typed on this page is kept.`,
    otherAccount: 'Use another account',
  },
  register: {
    title: 'Create an account',
    usernameHint: `Up to ${username.maxLength} characters, no spaces`,
    email: 'Email address',
    emailHint: 'Optional',
    passwordHint: `At least ${password.minLength} characters`,
    submit: 'Create account',
    haveAccount: 'Already have an account?',
    toSignIn: 'Sign in',
    closed: 'Registration is closed. Ask an administrator for an account.',
  },
};
