import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateHttpHeaderName, validatePortName, validatePortNumber } from '@kruise/values/names';
import { nonNegative, refusals } from '../meta/value.validate.ts';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, ProbeHandler } from './probe.ts';

const schemes = ['HTTP', 'HTTPS'];

type Probes = {
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
};

/** Validates the lifecycle hooks and probes of a container. */
export function* validateProbes(
  container: Probes,
  gracePeriodSeconds: number | undefined,
  path: string,
): Generator<Cause> {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  if (lifecycle) yield* validateLifecycle(lifecycle, gracePeriodSeconds, `${path}.lifecycle`);
  if (livenessProbe) yield* validateOneSuccess(livenessProbe, `${path}.livenessProbe`);
  if (readinessProbe) {
    yield* validateProbe(readinessProbe, `${path}.readinessProbe`);
    const { terminationGracePeriodSeconds: seconds } = readinessProbe;
    if (seconds !== undefined) {
      const field = `${path}.readinessProbe.terminationGracePeriodSeconds`;
      yield invalid(field, seconds, 'must not be set for readinessProbes');
    }
  }
  if (startupProbe) yield* validateOneSuccess(startupProbe, `${path}.startupProbe`);
}

/** Liveness and startup probes must have a success threshold of 1. */
function* validateOneSuccess(probe: Probe, path: string): Generator<Cause> {
  yield* validateProbe(probe, path);
  if (probe.successThreshold !== 1) yield invalid(`${path}.successThreshold`, probe.successThreshold ?? 0, 'must be 1');
}

const probeNumbers = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function hasNegative(probe: Probe): boolean {
  return probeNumbers.some((field) => (probe[field] ?? 0) < 0);
}

function* validateProbe(probe: Probe, path: string): Generator<Cause> {
  yield* validateHandler(probe, undefined, path);
  if (hasNegative(probe)) for (const field of probeNumbers) yield* nonNegative(`${path}.${field}`, probe[field]);
  const seconds = probe.terminationGracePeriodSeconds;
  if (seconds !== undefined && seconds <= 0) {
    yield invalid(`${path}.terminationGracePeriodSeconds`, seconds, 'must be greater than 0');
  }
}

function* validateLifecycle(
  { postStart, preStop }: Lifecycle,
  gracePeriodSeconds: number | undefined,
  path: string,
): Generator<Cause> {
  if (postStart) yield* validateHandler(postStart, gracePeriodSeconds, `${path}.postStart`);
  if (preStop) yield* validateHandler(preStop, gracePeriodSeconds, `${path}.preStop`);
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

function* validateHandler(
  handler: ProbeHandler & LifecycleHandler,
  gracePeriodSeconds: number | undefined,
  path: string,
): Generator<Cause> {
  let hasOne = false;
  for (const name of handlers) {
    if (handler[name] === undefined) continue;
    if (hasOne) yield forbidden(`${path}.${name}`, 'may not specify more than 1 handler type');
    else yield* validateAction(handler, name, gracePeriodSeconds, `${path}.${name}`);
    hasOne = true;
  }
  if (!hasOne) yield required(path, 'must specify a handler type');
}

function* validateAction(
  { exec, httpGet, tcpSocket, grpc, sleep }: ProbeHandler & LifecycleHandler,
  name: (typeof handlers)[number],
  gracePeriodSeconds: number | undefined,
  path: string,
): Generator<Cause> {
  switch (name) {
    case 'exec':
      if ((exec!.command ?? []).length === 0) yield required(`${path}.command`);
      return;
    case 'httpGet':
      return yield* validateHttpGet(httpGet!, path);
    case 'tcpSocket':
      return yield* validatePort(tcpSocket!.port, `${path}.port`);
    case 'grpc':
      return yield* validatePort(grpc!.port, `${path}.port`);
    case 'sleep': {
      const { seconds } = sleep!;
      if (gracePeriodSeconds !== undefined && (seconds < 0 || seconds > gracePeriodSeconds)) {
        const detail = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`;
        yield invalid(path, seconds, detail);
      }
    }
  }
}

function* validateHttpGet(action: HTTPGetAction, path: string): Generator<Cause> {
  if (!action.path) yield required(`${path}.path`);
  yield* validatePort(action.port, `${path}.port`);
  if (!schemes.includes(action.scheme ?? '')) yield notSupported(`${path}.scheme`, action.scheme ?? '', schemes);
  for (const { name } of action.httpHeaders ?? []) {
    yield* refusals(`${path}.httpHeaders`, name, validateHttpHeaderName(name));
  }
}

/** Validates a port number or name. */
export function validatePort(port: number | string, path: string): readonly Cause[] {
  return refusals(path, port, typeof port === 'number' ? validatePortNumber(port) : validatePortName(port));
}
