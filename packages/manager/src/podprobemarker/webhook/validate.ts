/** Validation of PodProbeMarkers. */
import type { Probe } from '@kruise/api/core/probe';
import { validatePort } from '@kruise/api/core/probe.validate';
import type { PodContainerProbe, PodProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { validateLabelSelector } from '@kruise/api/meta/label-selector.validate';
import { validateAnnotations, validateLabels } from '@kruise/api/meta/labels.validate';
import { isSame } from '@kruise/api/meta/same';
import { nonNegative, refusals } from '@kruise/api/meta/value.validate';
import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateHttpHeaderName, validateQualifiedName } from '@kruise/values/names';

/** Condition types that Kubernetes and Kruise reserve. */
const reservedNames = new Set([
  'PodScheduled',
  'Initialized',
  'Ready',
  'ContainersReady',
  'KruisePodReady',
  'InPlaceUpdateReady',
]);

export function* validatePodProbeMarker(marker: PodProbeMarker, old?: PodProbeMarker): Generator<Cause> {
  yield* validateSelector(marker);
  yield* validateProbes(marker.spec.probes);
  if (old && !isSame(marker.spec.selector, old.spec.selector)) {
    yield invalidStructure('selector', 'v1.LabelSelector', marker.spec.selector, 'selector must be immutable');
  }
}

function* validateSelector({ spec: { selector } }: PodProbeMarker): Generator<Cause> {
  yield* validateLabelSelector(selector, 'spec.selector');
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
  if (isEmpty) {
    const why = 'empty selector is not valid for podProbeMarker.';
    yield invalidStructure('spec.selector', 'v1.LabelSelector', selector, why);
  }
}

/** Validates the probe handlers first, and stops at the first invalid one. */
function* validateProbes(probes: readonly PodContainerProbe[] | undefined): Generator<Cause> {
  if (!probes?.length) {
    const why = 'empty probes is not valid for PodProbeMarker.';
    return yield invalidStructure('spec.probes', 'v1alpha1.PodProbeMarkerSpec', { probes: [] }, why);
  }
  const names = new Set<string>();
  const conditions = new Set<string>();
  for (const each of probes) {
    const { name, containerName, podConditionType = '', markerPolicy = [] } = each;
    const fault = faultOfName(each, names);
    if (fault) return yield invalid('spec.probes', fault.value, fault.why);
    names.add(name);
    yield* validateProbe(each.probe, 'spec.probe');
    if (podConditionType === '' && markerPolicy.length === 0) {
      const why = 'podConditionType and markerPolicy cannot be empty at the same time';
      return yield invalidStructure('spec.probes', 'v1alpha1.PodContainerProbe', { name, containerName }, why);
    }
    if (podConditionType !== '') {
      if (conditions.has(podConditionType)) {
        const why = `podConditionType ${podConditionType} must be unique in podProbeMarker`;
        return yield invalid('spec.probes', podConditionType, why);
      }
      conditions.add(podConditionType);
      for (const why of validateQualifiedName(podConditionType)) yield invalid('spec', podConditionType, why);
    }
    const repeated = repeatedState(markerPolicy);
    if (repeated) return yield invalid('spec.markerPolicy', repeated, 'marker policy state must be unique.');
    for (const policy of markerPolicy) yield* validatePolicy(policy);
  }
}

function faultOfName({ name, containerName }: PodContainerProbe, names: ReadonlySet<string>) {
  if (name.includes('#')) return { value: name, why: "probe name can't contains '#'." };
  if (name === '') return { value: name, why: "probe name can't be empty in PodProbeMarker." };
  if (containerName === '')
    return { value: containerName, why: "probe containerName can't be empty in PodProbeMarker." };
  if (reservedNames.has(name)) return { value: name, why: `probe name can't be ${name}` };
  return names.has(name) ? { value: name, why: 'probe name must be unique in PodProbeMarker.' } : undefined;
}

type Policy = NonNullable<PodContainerProbe['markerPolicy']>[number];

function repeatedState(policies: readonly Policy[]): string | undefined {
  return policies.find(({ state }, index) => policies.findIndex((each) => each.state === state) < index)?.state;
}

function* validatePolicy({ state, labels = {}, annotations = {} }: Policy): Generator<Cause> {
  if (state !== 'Succeeded' && state !== 'Failed') {
    yield required('spec.markerPolicy.state', "marker policy state must be 'True' or 'False'");
  }
  if (Object.keys(labels).length === 0 && Object.keys(annotations).length === 0) {
    yield required('spec.markerPolicy', "marker policy annotations or labels can't be both empty");
  }
  yield* validateLabels(labels, 'spec.markerPolicy.labels');
  yield* validateAnnotations(annotations, 'spec.markerPolicy.annotations');
}

const handlers = ['exec', 'httpGet', 'tcpSocket'] as const;
const numbers = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function* validateProbe(probe: Probe, path: string): Generator<Cause> {
  const given = handlers.filter((name) => probe[name] !== undefined);
  if (given.length === 0) yield required(path, 'must specify a handler type');
  for (const [index, name] of given.entries()) {
    if (index > 0) yield forbidden(`${path}.${name}`, 'may not specify more than 1 handler type');
    else yield* validateHandler(probe, `${path}.${name}`);
  }
  for (const name of numbers) yield* nonNegative(`${path}.${name}`, probe[name]);
}

const noHost = 'host field in probes is not allowed';

function* validateHandler({ exec, httpGet, tcpSocket }: Probe, path: string): Generator<Cause> {
  if (exec) {
    if (!exec.command?.length) yield required(`${path}.command`);
    return;
  }
  const { host, port } = (httpGet ?? tcpSocket)!;
  if (httpGet && !httpGet.path) yield required(`${path}.path`);
  if (host) yield invalid(`${path}.host`, host, noHost);
  yield* validatePort(port, `${path}.port`);
  if (!httpGet) return;
  const { scheme = '', httpHeaders = [] } = httpGet;
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') yield notSupported(`${path}.scheme`, scheme, ['HTTP', 'HTTPS']);
  for (const { name } of httpHeaders) yield* refusals(`${path}.httpHeaders`, name, validateHttpHeaderName(name));
}
