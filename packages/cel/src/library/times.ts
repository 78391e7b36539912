import { type FunctionDeclaration, method, type Overload } from '../functions.ts';
import { type CalendarFields, calendarFields, type Duration, durationIn, type Timestamp } from '../time.ts';
import { durationType, intType, stringType, timestampType } from '../types.ts';
import { EvaluationError, type Int, type Value } from '../values.ts';

function calendar(
  name: string,
  id: string,
  part: (fields: CalendarFields, timestamp: Timestamp) => number,
): FunctionDeclaration {
  const at = (timestamp: Value, zone: Value): Value => {
    const fields = calendarFields(timestamp as Timestamp, zone as string);
    return fields instanceof EvaluationError ? fields : part(fields, timestamp as Timestamp);
  };
  return {
    name,
    overloads: [
      method(id, [timestampType], intType, (timestamp) => at(timestamp!, 'UTC')),
      method(`${id}_with_tz`, [timestampType, stringType], intType, (timestamp, zone) => at(timestamp!, zone!)),
    ],
  };
}

function clock(
  name: string,
  id: { timestamp: string; duration: string },
  part: (fields: CalendarFields, timestamp: Timestamp) => number,
  whole: (duration: Duration) => Int,
): FunctionDeclaration {
  const declaration = calendar(name, id.timestamp, part);
  const ofDuration: Overload = method(id.duration, [durationType], intType, (value) => whole(value as Duration));
  return { ...declaration, overloads: [...declaration.overloads, ofDuration] };
}

/** Functions on timestamps and durations. */
export const times: readonly FunctionDeclaration[] = [
  calendar('getFullYear', 'timestamp_to_year', ({ year }) => year),
  calendar('getMonth', 'timestamp_to_month', ({ month }) => month),
  calendar('getDayOfYear', 'timestamp_to_day_of_year', ({ dayOfYear }) => dayOfYear),
  calendar('getDayOfMonth', 'timestamp_to_day_of_month', ({ day }) => day - 1),
  calendar('getDate', 'timestamp_to_day_of_month_1_based', ({ day }) => day),
  calendar('getDayOfWeek', 'timestamp_to_day_of_week', ({ dayOfWeek }) => dayOfWeek),
  clock(
    'getHours',
    { timestamp: 'timestamp_to_hours', duration: 'duration_to_hours' },
    ({ hours }) => hours,
    (duration) => durationIn(duration, 'h'),
  ),
  clock(
    'getMinutes',
    { timestamp: 'timestamp_to_minutes', duration: 'duration_to_minutes' },
    ({ minutes }) => minutes,
    (duration) => durationIn(duration, 'm'),
  ),
  clock(
    'getSeconds',
    { timestamp: 'timestamp_to_seconds', duration: 'duration_to_seconds' },
    ({ seconds }) => seconds,
    (duration) => durationIn(duration, 's'),
  ),
  clock(
    'getMilliseconds',
    { timestamp: 'timestamp_to_milliseconds', duration: 'duration_to_milliseconds' },
    (_fields, { nanos }) => Math.trunc(nanos / 1_000_000),
    (duration) => durationIn(duration, 'ms'),
  ),
];
