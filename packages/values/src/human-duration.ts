const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/**
 * Formats a duration for the AGE column of kubectl, with two or three digits: `85s`, `5m10s`, `3h`, `2d4h`, `2y30d`.
 */
export function humanDuration(elapsedMs: number): string {
  const seconds = Math.trunc(elapsedMs / 1000);
  // Clocks of two machines may differ by a second.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return inTwoUnits(seconds, [minute, 'm'], [1, 's']);
  if (seconds < 3 * hour) return inUnit(seconds, minute, 'm');
  if (seconds < 8 * hour) return inTwoUnits(seconds, [hour, 'h'], [minute, 'm']);
  if (seconds < 2 * day) return inUnit(seconds, hour, 'h');
  if (seconds < 8 * day) return inTwoUnits(seconds, [day, 'd'], [hour, 'h']);
  if (seconds < 2 * year) return inUnit(seconds, day, 'd');
  if (seconds < 8 * year) return inTwoUnits(seconds, [year, 'y'], [day, 'd']);
  return inUnit(seconds, year, 'y');
}

/** Formats a duration in a single unit: 85 seconds are `1m`. */
export function shortHumanDuration(elapsedMs: number): string {
  const seconds = Math.trunc(elapsedMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < minute) return `${seconds}s`;
  if (seconds < hour) return inUnit(seconds, minute, 'm');
  if (seconds < day) return inUnit(seconds, hour, 'h');
  if (seconds < year) return inUnit(seconds, day, 'd');
  return inUnit(seconds, year, 'y');
}

type Unit = readonly [seconds: number, name: string];

function inUnit(seconds: number, unit: number, name: string): string {
  return `${Math.floor(seconds / unit)}${name}`;
}

function inTwoUnits(seconds: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % large) / small);
  const whole = inUnit(seconds, large, largeName);
  return rest === 0 ? whole : `${whole}${rest}${smallName}`;
}
