import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { validatePod } from '@kruise/api/core/pod.validate';
import type { ObjectFieldSelector } from '@kruise/api/core/value-source';
import { splitSubscript } from '@kruise/api/core/value-source.validate';
import { type SidecarContainer, type SidecarSetSpec, typedSidecarContainer } from '@kruise/api/kruise/sidecarset';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { refusals } from '@kruise/api/meta/value.validate';
import { codecOf } from '@kruise/schema/codec';
import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { validateQualifiedName } from '@kruise/values/names';
import { ParseError } from '@kruise/values/parse-error';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { evaluate } from '../expression.ts';

const codec = codecOf(typedSidecarContainer);

/** Validates sidecars: their additional fields, and the containers as part of a Pod. */
export function* validateContainers({ initContainers = [], containers = [], volumes = [] }: SidecarSetSpec) {
  for (const [index, container] of initContainers.entries()) {
    const { resourcesPolicy, restartPolicy } = container;
    const path = `spec[${index}].resourcesPolicy`;
    if (resourcesPolicy && restartPolicy !== 'Always') {
      const detail = 'resourcesPolicy is only supported for containers with RestartPolicy Always';
      yield invalidStructure(path, 'v1beta1.ResourcesPolicy', resourcesPolicy, detail);
    }
    yield* validateResourcesPolicy(container, path);
  }
  for (const [index, container] of containers.entries()) yield* validateSidecar(container, `spec[${index}]`);
  yield* validatePod(
    podWith({
      initContainers: initContainers.map(asContainer),
      containers: containers.length > 0 ? containers.map(asContainer) : [placeholder],
      volumes,
    }),
  );
}

function asContainer(container: SidecarContainer): Container {
  // A sidecar has the fields of a container and those that a SidecarSet adds.
  return codec.fromJson(container) as Container;
}

/** A container for the validation, because a Pod must have one. */
const placeholder: Container = {
  name: 'test',
  image: 'busybox',
  imagePullPolicy: 'IfNotPresent',
  terminationMessagePolicy: 'File',
};

function podWith(spec: Pick<NonNullable<Pod['spec']>, 'initContainers' | 'containers' | 'volumes'>): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'test', namespace: 'default' },
    spec: {
      ...spec,
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 30,
    },
  };
}

function* validateSidecar(container: SidecarContainer, path: string): Generator<Cause> {
  const { podInjectPolicy = '', shareVolumePolicy = {}, transferEnv = [] } = container as Loose;
  if (!['BeforeAppContainer', 'AfterAppContainer'].includes(podInjectPolicy)) {
    yield invalid('spec.container.podInjectPolicy', podInjectPolicy, 'unsupported pod inject policy');
  }
  if (!['enabled', 'disabled'].includes(shareVolumePolicy.type ?? '')) {
    const detail = 'unsupported share volume policy';
    yield invalidStructure('spec.container.shareVolumePolicy', 'v1beta1.ShareVolumePolicy', shareVolumePolicy, detail);
  }
  for (const { sourceContainerNameFrom } of transferEnv) {
    const { fieldRef } = sourceContainerNameFrom ?? {};
    if (fieldRef) yield* validateSource(fieldRef, `${path}.transferEnv.fieldRef`);
  }
  yield* validateResourcesPolicy(container, `${path}.resourcesPolicy`);
}

/** A sidecar before its validation. */
type Loose = Pick<SidecarContainer, 'transferEnv'> & {
  readonly podInjectPolicy?: string;
  readonly shareVolumePolicy?: { readonly type?: string };
};

function* validateSource({ apiVersion, fieldPath }: ObjectFieldSelector, path: string): Generator<Cause> {
  if (!apiVersion) return yield required(`${path}.apiVersion`);
  if (!fieldPath) return yield required(`${path}.fieldPath`);
  const fault = (why: string) => invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`);
  if (apiVersion !== 'v1') return yield fault(`unsupported pod version: ${apiVersion}`);
  const [field, subscript = ''] = splitSubscript(fieldPath) ?? [];
  if (field === undefined) return yield fault(`field label not supported: ${fieldPath}`);
  if (field === 'metadata.labels') yield* refusals(path, subscript, validateQualifiedName(subscript));
  else if (field !== 'metadata.annotations') yield fault(`field path not supported: ${field}`);
  else yield* refusals(path, subscript, validateQualifiedName(subscript.toLowerCase()));
}

function* validateResourcesPolicy({ resources, resourcesPolicy }: SidecarContainer, path: string): Generator<Cause> {
  if (!resourcesPolicy) return;
  const { targetContainersNameRegex: pattern = '', resourcesExpr } = resourcesPolicy;
  const amounts = { ...resources?.limits, ...resources?.requests };
  if (Object.keys(amounts).length > 0) {
    const detail = 'resourcesPolicy and resources cannot be configured together';
    return yield invalidStructure(path, 'v1beta1.ResourcesPolicy', resourcesPolicy, detail);
  }
  yield* validatePattern(pattern, `${path}.targetContainersNameRegex`);
  const { limits, requests } = resourcesExpr;
  if (!limits && !requests) {
    const detail = 'at least one of limits or requests must be configured';
    yield invalidStructure(`${path}.resourcesExpr`, 'v1beta1.ResourcesExpr', resourcesExpr, detail);
  }
  for (const [name, expressions] of Object.entries({ limits, requests })) {
    for (const resource of ['cpu', 'memory'] as const) {
      yield* validateExpression(expressions?.[resource], resource, `${path}.resourcesExpr.${name}.${resource}`);
    }
  }
}

function* validatePattern(pattern: string, path: string): Generator<Cause> {
  if (pattern === '') return yield required(path, 'invalid empty regex');
  try {
    RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    yield invalid(path, pattern, `invalid regex pattern: ${error.message}`);
  }
}

/** Validates an expression by evaluating it for the value 1. */
function* validateExpression(expression: string | undefined, variable: string, path: string): Generator<Cause> {
  if (!expression) return;
  try {
    evaluate(expression, { [variable]: 1 });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    yield invalid(path, expression, `invalid expression: ${error.message}`);
  }
}
