/** Sets of completion indexes as Jobs write them: `1,3-5,7`. */
import { quote } from '@kruise/values/go-syntax';

type Interval = { readonly first: number; readonly last: number };

/** The reason why a text is not a set of indexes below the number of completions. */
export type IndexFault = { readonly fault: string };

/** Returns the number of indexes, or the error of the text. */
export function countIndexes(text: string, completions: number): number | IndexFault {
  if (text === '') return 0;
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if ('fault' in interval) return interval;
    if (previous !== undefined && previous >= interval.first) return wrongOrder(previous, interval.first);
    total += interval.last - interval.first + 1;
    previous = interval.last;
  }
  return total;
}

/** Returns the first index that both sets contain. Invalid parts are ignored. */
export function findOverlap(a: string, b: string, completions: number): number | undefined {
  if (a === '' || b === '') return undefined;
  const [first, second] = [intervalsOf(a, completions), intervalsOf(b, completions)];
  for (let i = 0, j = 0; i < first.length && j < second.length; ) {
    const [x, y] = [first[i]!, second[j]!];
    if (x.first <= y.last && y.first <= x.last) return Math.max(x.first, y.first);
    if (x.first <= y.first) i++;
    else j++;
  }
  return undefined;
}

function intervalsOf(text: string, completions: number): readonly Interval[] {
  return text.split(',').flatMap((part) => {
    const interval = parseInterval(part, completions);
    return 'fault' in interval ? [] : [interval];
  });
}

function parseInterval(text: string, completions: number): Interval | IndexFault {
  const parts = text.split('-');
  if (parts.length > 2) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
    return { fault: `the fragment ${quote(text)} ${rule}` };
  }
  const limits: number[] = [];
  for (const part of parts) {
    if (!/^[+-]?[0-9]{1,18}$/.test(part)) {
      return { fault: `cannot convert string to integer for index: ${quote(part)}` };
    }
    if (Number(part) >= completions) return { fault: `too large index: ${quote(part)}` };
    limits.push(Number(part));
  }
  const [first = 0, last = first] = limits;
  return parts.length === 2 && first >= last ? wrongOrder(first, last) : { first, last };
}

function wrongOrder(previous: number, current: number): IndexFault {
  return { fault: `non-increasing order, previous: ${previous}, current: ${current}` };
}
