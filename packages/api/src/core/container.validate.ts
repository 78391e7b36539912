import {
  type Cause,
  duplicate,
  forbidden,
  invalid,
  notFoundValue,
  notSupported,
  required,
} from '@kruise/schema/field-error';
import {
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePortName,
  validatePortNumber,
  validatePrefix,
  validateRelaxedEnvironmentVariableName,
} from '@kruise/values/names';
import { duplicateBare, unsupportedBare } from '../meta/go-value.ts';
import { oneOf, refusals } from '../meta/value.validate.ts';
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  EphemeralContainer,
  VolumeMount,
} from './container.ts';
import { hasBackstep, validateDescendingPath } from './path.validate.ts';
import { isSidecar } from './pod-containers.ts';
import type { PodSpec } from './pod-spec.ts';
import { validateProbes } from './probe.validate.ts';
import { areUsualResources, validateContainerResources } from './resources.validate.ts';
import { validateSecurityContext } from './security-context.validate.ts';
import { validateFieldRef, validateKeyRef, validateResourceFieldRef } from './value-source.validate.ts';
import type { ValidVolumes } from './volume.validate.ts';

/** The context of a container's validation: its Pod, and the valid volumes and claims of the Pod. */
export type ContainerContext = {
  readonly spec: PodSpec;
  readonly volumes: ValidVolumes;
  readonly claimNames: ReadonlySet<string>;
};

export const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const terminationMessagePolicies = ['File', 'FallbackToLogsOnError'];
export const protocols = ['SCTP', 'TCP', 'UDP'];

export function* validateContainers(context: ContainerContext, path: string): Generator<Cause> {
  const { spec } = context;
  const containers = spec.containers ?? [];
  if (containers.length === 0) return yield required(path);
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    yield* validateContainer(container, context, at);
    if (names.has(container.name)) yield duplicate(`${at}.name`, container.name);
    names.add(container.name);
    yield* validateProbes(container, spec.terminationGracePeriodSeconds, at);
    if (container.restartPolicy !== undefined) {
      yield forbidden(`${at}.restartPolicy`, 'may not be set for non-init containers');
    }
  }
  const taken = new Set<string>();
  for (const [index, { ports }] of containers.entries()) {
    if (ports) yield* validateHostPorts(ports, taken, `${path}[${index}].ports`);
  }
}

export function* validateInitContainers(context: ContainerContext, path: string): Generator<Cause> {
  const { spec } = context;
  const names = new Set((spec.containers ?? []).map(({ name }) => name));
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = `${path}[${index}]`;
    yield* validateContainer(container, context, at);
    if (container.restartPolicy !== undefined) yield* oneOf(`${at}.restartPolicy`, container.restartPolicy, ['Always']);
    if (names.has(container.name)) yield duplicate(`${at}.name`, container.name);
    else if (container.name) names.add(container.name);
    // Init containers run one after another, so each can use all host ports. The reported path is that of the first
    // one.
    if (container.ports) yield* validateHostPorts(container.ports, new Set(), `${path}[0].ports`);
    if (isSidecar(container)) yield* validateProbes(container, spec.terminationGracePeriodSeconds, at);
    else {
      for (const field of longLivedFields) {
        if (container[field] === undefined) continue;
        yield forbidden(`${at}.${field}`, 'may not be set for init containers without restartPolicy=Always');
      }
    }
  }
}

const longLivedFields = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export function* validateEphemeralContainers(context: ContainerContext, path: string): Generator<Cause> {
  const { initContainers = [], containers, ephemeralContainers = [] } = context.spec;
  if (ephemeralContainers.length === 0) return;
  const others = new Set([...(containers ?? []), ...initContainers].map(({ name }) => name));
  const names = new Set(others);
  for (const [index, container] of ephemeralContainers.entries()) {
    const at = `${path}[${index}]`;
    yield* validateContainer(container, context, at);
    yield* validateImage(container, at);
    if (names.has(container.name)) yield duplicate(`${at}.name`, container.name);
    names.add(container.name);
    const target = container.targetContainerName;
    if (target && !others.has(target)) yield notFoundValue(`${at}.targetContainerName`, target);
    yield* validateEphemeralFields(container, at);
  }
}

/** Validates ephemeral containers without their Pod, whose volumes are unknown. */
export function* validateAddedContainers(containers: readonly EphemeralContainer[], path: string): Generator<Cause> {
  const nowhere = { spec: { containers: [] }, volumes: new Map(), claimNames: new Set<string>() };
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    const { volumeMounts: _, volumeDevices: __, ...rest } = container;
    yield* validateContainer(rest, nowhere, at);
    yield* validateImage(container, at);
    if (names.has(container.name)) yield duplicate(`${at}.name`, container.name);
    names.add(container.name);
    yield* validateEphemeralFields(container, at);
  }
}

const notEphemeral = 'cannot be set for an Ephemeral Container';
const notEphemeralFields = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

function* validateEphemeralFields(container: EphemeralContainer, path: string): Generator<Cause> {
  for (const field of notEphemeralFields) {
    const value = container[field];
    if (value !== undefined && !(field === 'resources' && Object.keys(value).length === 0)) {
      yield forbidden(`${path}.${field}`, notEphemeral);
    }
  }
  for (const [index, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
    if (subPath) yield forbidden(`${path}.volumeMounts[${index}].subPath`, notEphemeral);
    if (subPathExpr) yield forbidden(`${path}.volumeMounts[${index}].subPathExpr`, notEphemeral);
  }
}

/** Validates the image of a container in a Pod. Templates are not validated, because stored templates never were. */
export function* validateImage({ image = '' }: Container | EphemeralContainer, path: string): Generator<Cause> {
  if (padded.test(image)) yield invalid(`${path}.image`, image, 'must not have leading or trailing whitespace');
}

// Go's white space is JavaScript's plus U+0085, without the byte order mark.
const padded = /^(?!\ufeff)[\s\x85]|(?!\ufeff)[\s\x85]$/;

function* validateContainer(
  container: Container | EphemeralContainer,
  { spec, volumes, claimNames }: ContainerContext,
  path: string,
): Generator<Cause> {
  const { name, image, terminationMessagePolicy = '', imagePullPolicy = '', ports, env, envFrom } = container;
  const { resources, resizePolicy, securityContext } = container;
  const faults = validateDns1123Label(name);
  if (!name) yield required(`${path}.name`);
  else if (faults.length > 0) yield* refusals(`${path}.name`, name, faults);
  if (!image) yield required(`${path}.image`);
  if (!terminationMessagePolicies.includes(terminationMessagePolicy)) {
    yield unknown(terminationMessagePolicy, terminationMessagePolicies, `${path}.terminationMessagePolicy`);
  }
  if (ports) yield* validatePorts(ports, `${path}.ports`);
  if (env) yield* validateEnv(env, `${path}.env`);
  if (envFrom) yield* validateEnvFrom(envFrom, `${path}.envFrom`);
  if (container.volumeMounts) yield* validateVolumeMounts(container, volumes, `${path}.volumeMounts`);
  if (container.volumeDevices) yield* validateVolumeDevices(container, volumes, `${path}.volumeDevices`);
  if (!pullPolicies.includes(imagePullPolicy)) {
    yield unknown(imagePullPolicy, pullPolicies, `${path}.imagePullPolicy`);
  }
  if (resources && !areUsualResources(resources)) {
    yield* validateContainerResources(resources, claimNames, `${path}.resources`);
  }
  if (resizePolicy) yield* validateResizePolicy(resizePolicy, spec.restartPolicy, `${path}.resizePolicy`);
  if (securityContext)
    yield* validateSecurityContext(securityContext, spec.hostUsers !== false, `${path}.securityContext`);
}

function unknown(value: string, known: readonly string[], path: string): Cause {
  return value === '' ? required(path) : notSupported(path, value, known);
}

function* validatePorts(ports: readonly ContainerPort[], path: string): Generator<Cause> {
  const names = new Set<string>();
  for (const [index, { name, containerPort, hostPort, protocol = '' }] of ports.entries()) {
    const at = `${path}[${index}]`;
    if (name) {
      const faults = validatePortName(name);
      if (faults.length > 0) yield* refusals(`${at}.name`, name, faults);
      else if (names.has(name)) yield duplicate(`${at}.name`, name);
      else names.add(name);
    }
    const faults = validatePortNumber(containerPort);
    if (containerPort === 0) yield required(`${at}.containerPort`);
    else if (faults.length > 0) yield* refusals(`${at}.containerPort`, containerPort, faults);
    if (hostPort) yield* refusals(`${at}.hostPort`, hostPort, validatePortNumber(hostPort));
    if (!protocols.includes(protocol)) yield unknown(protocol, protocols, `${at}.protocol`);
  }
}

function* validateHostPorts(ports: readonly ContainerPort[], taken: Set<string>, path: string): Generator<Cause> {
  for (const [index, { protocol, hostIP = '', hostPort }] of ports.entries()) {
    if (!hostPort) continue;
    const key = `${protocol}/${hostIP}/${hostPort}`;
    if (taken.has(key)) yield duplicate(`${path}[${index}].hostPort`, key);
    taken.add(key);
  }
}

function* validateEnv(variables: readonly EnvVar[], path: string): Generator<Cause> {
  for (const [index, { name, value, valueFrom }] of variables.entries()) {
    const faults = validateRelaxedEnvironmentVariableName(name);
    if (!name) yield required(`${path}[${index}].name`);
    else if (faults.length > 0) yield* refusals(`${path}[${index}].name`, name, faults);
    if (valueFrom) yield* validateEnvSource(valueFrom, value, `${path}[${index}].valueFrom`);
  }
}

function* validateEnvSource(source: EnvVarSource, value: string | undefined, path: string): Generator<Cause> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef) yield* validateFieldRef(fieldRef, 'environment', `${path}.fieldRef`);
  if (resourceFieldRef) yield* validateResourceFieldRef(resourceFieldRef, 'environment', `${path}.resourceFieldRef`);
  if (configMapKeyRef) yield* validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`);
  if (secretKeyRef) yield* validateKeyRef(secretKeyRef, `${path}.secretKeyRef`);
  const count = Object.keys(source).length;
  if (count === 0) {
    const detail = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    yield invalid(path, '', detail);
  } else if (value) yield invalid(path, '', 'may not be specified when `value` is not empty');
  else if (count > 1) yield invalid(path, '', 'may not have more than one field specified at a time');
}

function* validateEnvFrom(sources: readonly EnvFromSource[], path: string): Generator<Cause> {
  for (const [index, { prefix, configMapRef, secretRef }] of sources.entries()) {
    const at = `${path}[${index}]`;
    if (prefix) yield* refusals(`${at}.prefix`, prefix, validateRelaxedEnvironmentVariableName(prefix));
    if (configMapRef) yield* validateEnvFromName(configMapRef.name, `${at}.configMapRef.name`);
    if (secretRef) yield* validateEnvFromName(secretRef.name, `${at}.secretRef.name`);
    if (!configMapRef && !secretRef) yield invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (configMapRef && secretRef) {
      yield invalid(path, '', 'may not have more than one field specified at a time');
    }
  }
}

function validateEnvFromName(name: string | undefined, path: string): readonly Cause[] {
  return name ? refusals(path, name, validatePrefix(validateDns1123Subdomain, name)) : [required(path)];
}

function* validateVolumeMounts(
  { volumeMounts, volumeDevices, securityContext }: Container | EphemeralContainer,
  volumes: ValidVolumes,
  path: string,
): Generator<Cause> {
  const points = new Set<string>();
  for (const [index, mount] of (volumeMounts ?? []).entries()) {
    const { name, mountPath, subPath, subPathExpr, mountPropagation } = mount;
    const at = `${path}[${index}]`;
    if (!name) yield required(`${at}.name`);
    if (!volumes.has(name)) yield notFoundValue(`${at}.name`, name);
    if (!mountPath) yield required(`${at}.mountPath`);
    if (points.has(mountPath)) yield invalid(`${at}.mountPath`, mountPath, 'must be unique');
    points.add(mountPath);
    if (volumeDevices?.some((device) => device.name === name)) {
      yield invalid(`${at}.name`, name, 'must not already exist in volumeDevices');
    }
    if (volumeDevices?.some(({ devicePath }) => devicePath === mountPath)) {
      yield invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices');
    }
    if (subPath) yield* refusals(`${path}.subPath`, subPath, validateDescendingPath(subPath));
    if (subPathExpr) {
      if (subPath) yield invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive');
      yield* refusals(`${path}.subPathExpr`, subPathExpr, validateDescendingPath(subPathExpr));
    }
    if (mountPropagation !== undefined) {
      yield* oneOf(`${path}.mountPropagation`, mountPropagation, ['Bidirectional', 'HostToContainer', 'None']);
      if (mountPropagation === 'Bidirectional' && !securityContext?.privileged) {
        const detail = 'Bidirectional mount propagation is available only to privileged containers';
        yield forbidden(`${path}.mountPropagation`, detail);
      }
    }
    if (mount.recursiveReadOnly !== undefined) yield* validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`);
  }
}

function* validateRecursiveReadOnly(mount: VolumeMount, path: string): Generator<Cause> {
  const { recursiveReadOnly: mode, readOnly, mountPropagation = 'None' } = mount;
  if (mode === undefined || mode === 'Disabled') return;
  yield* oneOf(path, mode, ['Disabled', 'Enabled', 'IfPossible']);
  if (mode !== 'Enabled' && mode !== 'IfPossible') return;
  if (!readOnly) yield forbidden(path, 'may only be specified when readOnly is true');
  if (mountPropagation !== 'None') {
    yield forbidden(path, 'may only be specified when mountPropagation is None or not specified');
  }
}

function* validateVolumeDevices(
  { volumeMounts, volumeDevices }: Container | EphemeralContainer,
  volumes: ValidVolumes,
  path: string,
): Generator<Cause> {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  for (const [index, { name, devicePath }] of (volumeDevices ?? []).entries()) {
    const at = `${path}[${index}]`;
    const volume = volumes.get(name);
    if (!name) yield required(`${at}.name`);
    if (names.has(name)) yield invalid(`${at}.name`, name, 'must be unique');
    if (!volume) yield notFoundValue(`${at}.name`, name);
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      yield invalid(`${at}.name`, name, detail);
    }
    if (!devicePath) yield required(`${at}.devicePath`);
    if (paths.has(devicePath)) yield invalid(`${at}.devicePath`, devicePath, 'must be unique');
    if (hasBackstep(devicePath)) yield invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (volumeMounts?.some((mount) => mount.name === name)) {
      yield invalid(`${at}.name`, name, 'must not already exist in volumeMounts');
    }
    if (volumeMounts?.some(({ mountPath }) => mountPath === devicePath)) {
      yield invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts');
    }
    if (name) names.add(name);
  }
}

const resizable = ['cpu', 'memory'];
const resizePolicies = ['NotRequired', 'RestartContainer'];

function* validateResizePolicy(
  policies: readonly ContainerResizePolicy[],
  podRestartPolicy: string | undefined,
  path: string,
): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of policies.entries()) {
    if (seen.has(resourceName)) yield duplicateBare(`${path}[${index}]`, resourceName);
    seen.add(resourceName);
    if (resourceName === '') yield required(path);
    else if (!resizable.includes(resourceName)) yield unsupportedBare(path, resourceName, resizable);
    if (!resizePolicies.includes(restartPolicy)) yield unknown(restartPolicy, resizePolicies, path);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      yield invalid(path, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  }
}
