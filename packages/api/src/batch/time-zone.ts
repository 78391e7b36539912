const known = new Map<string, boolean>();
const maxKnown = 1024;

/** Whether a text names a time zone of the IANA database, as its files are spelt. The empty name is UTC's. */
export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC') return true;
  let answer = known.get(name);
  if (answer === undefined) {
    answer = look(name);
    if (known.size === maxKnown) known.clear();
    known.set(name, answer);
  }
  return answer;
}

// Files are told apart by their spelling, while Intl takes any; and offsets such as `+01:00` are no files.
const spelling = /^(?:[A-Z][A-Za-z0-9_+-]*)(?:\/[A-Za-z0-9_+-]+)*$/;

function look(name: string): boolean {
  if (!spelling.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
