/** Texts about limits per day, week and month, and about rates. */
export const limits = {
  hint: 'In US dollars. Leave empty for no limit.',
  /** Of many at once. */
  change: {
    remove: { day: 'No limit per day', week: 'No limit per week', month: 'No limit per month' },
    nothing: 'Enter a limit, or remove one.',
  },
  zero: 'A limit of $0 refuses every request.',
  reachedFirst: {
    week: 'The weekly limit is reached first, so a higher limit per day changes nothing.',
    month: 'The monthly limit is reached first, so a higher limit per day or week changes nothing.',
  },
  periods: { day: 'Dollars per day', week: 'Dollars per week', month: 'Dollars per month' },
  presets: {
    label: 'Common limits',
    day: (usd: string) => `${usd} a day`,
    week: (usd: string) => `${usd} a week`,
    month: (usd: string) => `${usd} a month`,
  },
  alreadyUsed: {
    day: (usd: string) => `${usd} has been used today. Requests will be refused until the day ends.`,
    week: (usd: string) => `${usd} has been used this week. Requests will be refused until the week ends.`,
    month: (usd: string) => `${usd} has been used this month. Requests will be refused until the month ends.`,
  },
  rates: {
    requests_per_minute: 'Requests per minute',
    tokens_per_minute: 'Model tokens per minute',
    concurrency: 'Concurrent requests',
  },
  concurrencyHint: 'Requests that have begun and not ended.',
  errors: {
    large: (most: string) => `Enter at most ${most}.`,
    notANumber: 'Enter a whole number, or leave empty for no limit.',
  },
  bar: {
    used: {
      day: (used: string, limit: string) => `${used} of ${limit} today`,
      week: (used: string, limit: string) => `${used} of ${limit} this week`,
      month: (used: string, limit: string) => `${used} of ${limit} this month`,
    },
    reserved: (usd: string) => `${usd} reserved`,
    share: {
      day: (percent: number) => `${percent}% of the daily limit used`,
      week: (percent: number) => `${percent}% of the weekly limit used`,
      month: (percent: number) => `${percent}% of the monthly limit used`,
    },
    usedUp: 'used up',
    resetsIn: (time: string) => `resets in ${time}`,
    resetsNow: 'resets now',
    units: (used: string, limit: string, time: string) => `${used} of ${limit} units. Resets on ${time}.`,
  },
  /** The refusals of gateways while a limit is used up. */
  refused: {
    key: 'Requests with this key are refused until then.',
    account: 'Requests with any key of this account are refused until then.',
  },
  rateFacts: {
    requests_per_minute: (limit: string) => `Requests per minute: ${limit}`,
    tokens_per_minute: (limit: string) => `Model tokens per minute: ${limit}`,
    concurrency: (limit: string) => `Concurrent requests: ${limit}`,
  },
  rateRefusals: 'Gateways refuse requests above these limits.',
};
