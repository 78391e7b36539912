/** Structured log: a constant message, and everything variable in fields. */
export type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** Discards all messages. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** Returns a log that adds fields to every message, for example the component. */
export function withFields(log: Log, fields: object): Log {
  return {
    info: (more, message) => log.info({ ...fields, ...more }, message),
    warn: (more, message) => log.warn({ ...fields, ...more }, message),
    error: (more, message) => log.error({ ...fields, ...more }, message),
  };
}

/**
 * Returns a log that writes one JSON object per line: `jsonLog(clock.now, (line) => process.stdout.write(line))`.
 *
 * ```ts
 * const log = withFields(jsonLog(() => clock.now(), console.log), { component: 'reporter' });
 * log.info({ key: 'default/web' }, 'revision changed');
 * ```
 */
export function jsonLog(now: () => number, write: (line: string) => void): Log {
  const logAt = (level: string) => (fields: object, message: string) => {
    const time = new Date(now()).toISOString();
    write(`${JSON.stringify({ level, time, message, ...fields }, serializeError)}\n`);
  };
  return { info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

/** JSON replacer for errors, whose properties are not enumerable. */
function serializeError(_name: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const errors = value instanceof AggregateError ? { errors: value.errors } : {};
  return { name: value.name, message: value.message, stack: value.stack, ...errors };
}
