/** Where a controller writes what an operator would act on: a constant message, and what varies as fields. */
export type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** Says nothing. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** The same log, with some fields in every message: who is speaking, say. */
export function withFields(log: Log, fields: object): Log {
  return {
    info: (more, message) => log.info({ ...fields, ...more }, message),
    warn: (more, message) => log.warn({ ...fields, ...more }, message),
    error: (more, message) => log.error({ ...fields, ...more }, message),
  };
}

/** Writes a line of JSON for each message: `jsonLog(clock, (line) => process.stdout.write(line))`. */
export function jsonLog(now: () => number, write: (line: string) => void): Log {
  const say = (level: string) => (fields: object, message: string) => {
    const time = new Date(now()).toISOString();
    write(`${JSON.stringify({ level, time, message, ...fields }, plain)}\n`);
  };
  return { info: say('info'), warn: say('warn'), error: say('error') };
}

/** Errors have no fields of their own that JSON would show. */
function plain(_name: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const errors = value instanceof AggregateError ? { errors: value.errors } : {};
  return { name: value.name, message: value.message, stack: value.stack, ...errors };
}
