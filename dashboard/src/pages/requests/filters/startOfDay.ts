/** The Unix second at which a day such as "2026-03-10" begins in a time zone, or a day that is `addDays` later. */
export function startOfDay(day: string, timeZone: string, addDays = 0): number {
  const asUtc = Date.parse(day) / 1000 + addDays * 86_400;
  // Twice, because the offset may change between the two.
  const near = asUtc - offset(asUtc, timeZone);
  return asUtc - offset(near, timeZone);
}

/** How many seconds the clocks of a time zone are ahead of UTC. */
function offset(seconds: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(seconds * 1000);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find((each) => each.type === type)?.value);
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return local / 1000 - seconds;
}
