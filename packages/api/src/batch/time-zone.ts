const known = new Map<string, boolean>();
const maxKnown = 1024;

/** Reports whether a text is the name of an IANA time zone, in the spelling of its file. The empty name is UTC. */
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

// File names are case-sensitive, while Intl ignores case. Offsets such as `+01:00` are not files.
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
