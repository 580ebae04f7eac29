import type { components } from './schema';
import { requestLimits } from './serverLimits';

export type PeriodLimits = components['schemas']['PeriodLimitsBody'];
export type PeriodUsage = components['schemas']['PeriodUsageBody'];
export type UsageOfPeriod = components['schemas']['PeriodBody'];
export type RateLimits = components['schemas']['RateLimitsBody'];

export type Period = keyof PeriodLimits;
export type Rate = keyof RateLimits;

export const periods: Period[] = ['day', 'week', 'month'];
export const rates: Rate[] = ['requests_per_minute', 'tokens_per_minute', 'concurrency'];

/** The value of a limit that does not exist. */
export const NO_LIMIT = requestLimits.PeriodLimitsChange.day.minimum;
