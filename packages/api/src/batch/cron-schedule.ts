/** Validation of cron schedules: five fields, or a macro such as `@daily`. */
import { parseDuration } from '@kruise/values/duration';
import { formatList, quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { isTimeZone } from './time-zone.ts';

type Bounds = { readonly minimum: number; readonly maximum: number; readonly names?: readonly string[] };

const fieldBounds: readonly Bounds[] = [
  { minimum: 0, maximum: 59 },
  { minimum: 0, maximum: 23 },
  { minimum: 1, maximum: 31 },
  {
    minimum: 1,
    maximum: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { minimum: 0, maximum: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const words = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const every = '@every ';

/** Returns the error of a schedule; undefined if it is valid. */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule === '') return 'empty spec string';
  const zone = /^(?:CRON_)?TZ=([^ ]*)/.exec(schedule)?.[1];
  if (zone !== undefined && !isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
  const rest = zone === undefined ? schedule : schedule.slice(schedule.indexOf(zone) + zone.length).trim();
  if (rest.startsWith('@')) return wordFault(rest);
  const fields = rest.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== fieldBounds.length) {
    return `expected exactly ${fieldBounds.length} fields, found ${fields.length}: ${formatList(fields)}`;
  }
  for (const [index, bounds] of fieldBounds.entries()) {
    for (const range of fields[index]!.split(',').filter((part) => part !== '')) {
      const fault = rangeFault(range, bounds);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function wordFault(text: string): string | undefined {
  if (words.includes(text)) return undefined;
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`;
  try {
    parseDuration(text.slice(every.length));
    return undefined;
  } catch (error) {
    if (error instanceof ParseError) return `failed to parse duration ${text}: ${error.message}`;
    throw error;
  }
}

/** Validates `*`, `5`, `1-5` or `jan`, each optionally followed by a step such as `/2`. */
function rangeFault(text: string, { minimum, maximum, names }: Bounds): string | undefined {
  const [range = '', stepText, ...moreSteps] = text.split('/');
  const [lowText = '', highText, ...moreLimits] = range.split('-');
  let [low, high] = [minimum, maximum];
  if (lowText !== '*' && lowText !== '?') {
    const first = parseNumber(lowText, names, minimum);
    if (typeof first === 'string') return first;
    if (moreLimits.length > 0) return `too many hyphens: ${text}`;
    const last = highText === undefined ? first : parseNumber(highText, names, minimum);
    if (typeof last === 'string') return last;
    [low, high] = [first, last];
  }
  if (moreSteps.length > 0) return `too many slashes: ${text}`;
  const step = stepText === undefined ? 1 : parseNumber(stepText, undefined, 0);
  if (typeof step === 'string') return step;
  if (stepText !== undefined && highText === undefined) high = maximum;
  if (low < minimum) return `beginning of range (${low}) below minimum (${minimum}): ${text}`;
  if (high > maximum) return `end of range (${high}) above maximum (${maximum}): ${text}`;
  if (low > high) return `beginning of range (${low}) beyond end of range (${high}): ${text}`;
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

/** Returns the number, or its error. */
function parseNumber(text: string, names: readonly string[] | undefined, first: number): number | string {
  const position = names?.indexOf(text.toLowerCase()) ?? -1;
  if (position >= 0) return first + position;
  if (!/^[+-]?[0-9]{1,15}$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}
