import type { Container, EphemeralContainer } from '@kruise/api/core/container';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type ServiceAccount, serviceAccount } from '@kruise/api/core/serviceaccount';
import { randomSuffix } from '@kruise/machinery/generated-names';
import type { Draft } from '@kruise/schema/draft';
import { after } from '@kruise/values/clock';
import { type Random, randomInteger } from '@kruise/values/random';
import { type AdmissionPlugin, type Attributes, draftOf, forbiddenWrite, isResource } from '../admission.ts';
import type { Lookup } from '../lookup.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';
/**
 * Lifetime of projected tokens, slightly more than an hour. The kubelet renews tokens before they expire, and the
 * unusual value makes these tokens recognizable.
 */
const tokenSeconds = 3607;
/** Attempts to find the default ServiceAccount: a controller creates the account shortly after the namespace. */
const defaultAttempts = 10;

/** ServiceAccount plugin: assigns a ServiceAccount to every Pod and mounts its token at the well-known path. */
export function serviceAccounts(lookup: Lookup): AdmissionPlugin {
  const accounts = lookup.of(serviceAccount);

  /** Returns the account synchronously if it is in the cache, which is nearly always the case. */
  function withAccount(
    attributes: Attributes,
    name: string,
    use: (account: ServiceAccount) => void,
  ): void | Promise<void> {
    const account = accounts.get(name, attributes.namespace);
    return account ? use(account) : waitForAccount(attributes, name).then(use);
  }

  async function waitForAccount(attributes: Attributes, name: string): Promise<ServiceAccount> {
    const { context, namespace } = attributes;
    const pauseMs = 100 + randomInteger(context.random, 100);
    for (let attempt = 0; attempt < (name === 'default' ? defaultAttempts : 1); attempt++) {
      if (attempt > 0) await after(context.clock, pauseMs, context.signal);
      await lookup.waitForCurrent();
      const found = accounts.get(name, namespace);
      if (found) return found;
    }
    throw forbiddenWrite(
      attributes,
      `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
    );
  }

  return {
    name: 'ServiceAccount',
    handles: ({ operation, resource, subresource, kind }) =>
      kind.kind === 'Pod' &&
      isResource(resource.kind, pod) &&
      ((operation === 'CREATE' && subresource === '') ||
        (operation === 'UPDATE' && subresource === 'ephemeralcontainers')),
    mutate(attributes) {
      if (attributes.operation !== 'CREATE') return;
      const draft = draftOf<Pod>(attributes);
      // A mirror Pod must match the static Pod manifest that the kubelet read from disk, or the kubelet deletes it.
      if (isMirror(draft as Pod)) return checkMirror(attributes);
      const spec = draft.spec!;
      // `serviceAccount` is the deprecated alias of `serviceAccountName`.
      spec.serviceAccount = spec.serviceAccountName ||= 'default';
      return withAccount(attributes, spec.serviceAccountName, (account) => {
        if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) {
          mountToken(spec, attributes.context.random);
        }
        if ((spec.imagePullSecrets ?? []).length === 0 && account.imagePullSecrets) {
          spec.imagePullSecrets = account.imagePullSecrets.map(({ name = '' }) => ({ name }));
        }
        if (enforces(account)) checkSecrets(attributes, account);
      });
    },
    validate(attributes) {
      const object = attributes.object as Pod;
      if (attributes.operation === 'CREATE' && isMirror(object)) return checkMirror(attributes);
      const name = object.spec?.serviceAccountName;
      if (!name) {
        const { namespace } = attributes;
        throw forbiddenWrite(
          attributes,
          `no service account specified for pod ${namespace}/${object.metadata.name ?? ''}`,
        );
      }
      return withAccount(attributes, name, (account) => {
        if (!enforces(account)) return;
        if (attributes.operation === 'CREATE') checkSecrets(attributes, account);
        else checkEphemeralSecrets(attributes, account);
      });
    },
  };
}

function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

function checkMirror(attributes: Attributes): void {
  const { spec } = attributes.object as Pod;
  if (spec?.serviceAccountName) throw forbiddenWrite(attributes, 'a mirror pod may not reference service accounts');
  if (referencesSecrets(spec!)) throw forbiddenWrite(attributes, 'a mirror pod may not reference secrets');
  for (const { projected } of spec?.volumes ?? []) {
    if (projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken)) {
      throw forbiddenWrite(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
    }
  }
}

function referencesSecrets(spec: NonNullable<Pod['spec']>): boolean {
  if ((spec.imagePullSecrets ?? []).length > 0) return true;
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
  if (containers.some((container) => [...secretsOf(container)].length > 0)) return true;
  return (spec.volumes ?? []).some(
    (volume) =>
      volume.secret?.secretName ||
      volume.azureFile?.secretName ||
      volume.cephfs?.secretRef ||
      volume.cinder?.secretRef ||
      volume.flexVolume?.secretRef ||
      volume.rbd?.secretRef ||
      volume.scaleIO?.secretRef ||
      volume.iscsi?.secretRef ||
      volume.storageos?.secretRef ||
      volume.csi?.nodePublishSecretRef ||
      volume.projected?.sources?.some(({ secret }) => secret),
  );
}

function enforces({ metadata }: ServiceAccount): boolean {
  return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(metadata.annotations?.[enforceAnnotation] ?? '');
}

/** Yields the Secrets that a container's environment references, with the field that references them. */
function* secretsOf({
  env,
  envFrom,
}: Container | EphemeralContainer): Generator<readonly [name: string, where: string]> {
  for (const { name, valueFrom } of env ?? []) {
    if (valueFrom?.secretKeyRef) yield [valueFrom.secretKeyRef.name ?? '', `envVar ${name}`];
  }
  for (const { secretRef } of envFrom ?? []) {
    if (secretRef) yield [secretRef.name ?? '', 'envFrom'];
  }
}

function checkSecrets(attributes: Attributes, account: ServiceAccount): void {
  const { spec } = attributes.object as Pod;
  const mountable = new Set(account.secrets?.map(({ name }) => name));
  const accountName = account.metadata.name;
  for (const { secret } of spec?.volumes ?? []) {
    if (!secret || mountable.has(secret.secretName ?? '')) continue;
    throw forbiddenWrite(
      attributes,
      `volume with secret.secretName="${secret.secretName ?? ''}" is not allowed because service account ${accountName} does not reference that secret`,
    );
  }
  checkContainers(attributes, account, spec?.initContainers ?? [], 'init container');
  checkContainers(attributes, account, spec?.containers ?? [], 'container');
  const pullable = new Set(account.imagePullSecrets?.map(({ name }) => name));
  for (const [index, { name = '' }] of (spec?.imagePullSecrets ?? []).entries()) {
    if (pullable.has(name)) continue;
    throw forbiddenWrite(
      attributes,
      `imagePullSecrets[${index}].name="${name}" is not allowed because service account ${accountName} does not reference that imagePullSecret`,
    );
  }
}

function checkEphemeralSecrets(attributes: Attributes, account: ServiceAccount): void {
  checkContainers(
    attributes,
    account,
    (attributes.object as Pod).spec?.ephemeralContainers ?? [],
    'ephemeral container',
  );
}

function checkContainers(
  attributes: Attributes,
  account: ServiceAccount,
  containers: readonly (Container | EphemeralContainer)[],
  title: string,
): void {
  const mountable = new Set(account.secrets?.map(({ name }) => name));
  for (const container of containers) {
    for (const [name, where] of secretsOf(container)) {
      if (mountable.has(name)) continue;
      throw forbiddenWrite(
        attributes,
        `${title} ${container.name} with ${where} referencing secret.secretName="${name}" is not allowed because service account ${account.metadata.name} does not reference that secret`,
      );
    }
  }
}

function mountToken(spec: Draft<NonNullable<Pod['spec']>>, random: Random): void {
  const existing = spec.volumes?.find(({ name }) => name.startsWith(volumePrefix));
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    ({ volumeMounts }) => !volumeMounts?.some((mount) => mount.mountPath === mountPath),
  );
  if (containers.length === 0) return;
  const name = existing?.name ?? `${volumePrefix}${randomSuffix(random, 5)}`;
  for (const container of containers) {
    (container.volumeMounts ??= []).push({ name, readOnly: true, mountPath });
  }
  if (existing) return;
  (spec.volumes ??= []).push({
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  });
}
