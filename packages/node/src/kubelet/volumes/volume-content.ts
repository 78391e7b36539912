/** Contents of volumes that are made of API objects: ConfigMaps, Secrets, downward API fields and tokens. */
import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import type { Volume } from '@kruise/api/core/volume';
import { type DownwardContext, fieldOf, resourceFieldOf } from '../containers/downward-api.ts';
import type { ObjectReference } from '../pods/sources.ts';
import { userOf } from './volume-ownership.ts';

/** A file of a volume, owned by root unless `owner` is set. */
export type ContentFile = {
  readonly data: string | Uint8Array;
  readonly mode: number;
  readonly owner?: number | undefined;
};

/** Files by their path in the volume. */
export type Content = ReadonlyMap<string, ContentFile>;

/** Sources of volume contents. */
export type ContentSources = {
  configMap(name: string): Promise<ConfigMap | undefined>;
  secret(name: string): Promise<Secret | undefined>;
  /** Requests a token of the Pod's service account. */
  token(request: { readonly audience: string; readonly expirationSeconds: number }): Promise<string>;
};

type Items = readonly { readonly key: string; readonly path: string; readonly mode?: number | null }[];
type Sources = NonNullable<NonNullable<Volume['projected']>['sources']>;

const defaultFileMode = 0o644;

/** Returns the ConfigMaps and Secrets that a Pod refers to and that the kubelet must watch. */
export function referencesOf({ metadata, spec }: Pod): readonly ObjectReference[] {
  const { namespace = '' } = metadata;
  const found = new Map<string, ObjectReference>();
  const add = (kind: ObjectReference['kind'], name: string | undefined) => {
    if (name) found.set(`${kind}/${name}`, { kind, namespace, name });
  };
  for (const volume of spec?.volumes ?? []) {
    add('ConfigMap', volume.configMap?.name);
    add('Secret', volume.secret?.secretName);
    for (const { configMap, secret } of volume.projected?.sources ?? []) {
      add('ConfigMap', configMap?.name);
      add('Secret', secret?.name);
    }
  }
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ];
  for (const { env = [], envFrom = [] } of containers) {
    for (const { configMapRef, secretRef } of envFrom) {
      add('ConfigMap', configMapRef?.name);
      add('Secret', secretRef?.name);
    }
    for (const { valueFrom } of env) {
      add('ConfigMap', valueFrom?.configMapKeyRef?.name);
      add('Secret', valueFrom?.secretKeyRef?.name);
    }
  }
  for (const { name } of spec?.imagePullSecrets ?? []) add('Secret', name);
  return [...found.values()];
}

/** Reports whether the files of a volume come from API objects and change with them. */
export function hasObjectContent({ configMap, secret, downwardAPI, projected }: Volume): boolean {
  return Boolean(configMap ?? secret ?? downwardAPI ?? projected);
}

/** Reports whether a volume contains the Pod's labels or annotations and changes with them. */
export function hasMetadataFiles({ spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(({ downwardAPI, projected }) =>
    [downwardAPI, ...(projected?.sources ?? []).map((source) => source.downwardAPI)].some((each) =>
      each?.items?.some(({ fieldRef }) => /^metadata\.(labels|annotations)/.test(fieldRef?.fieldPath ?? '')),
    ),
  );
}

/** Returns the current files of a volume. Throws if a required object or key is missing. */
export async function contentOf(
  pod: Pod,
  volume: Volume,
  context: DownwardContext,
  sources: ContentSources,
): Promise<Content> {
  const { configMap, secret, downwardAPI, projected } = volume;
  const files: ContentFiles = new Map();
  const mode =
    configMap?.defaultMode ??
    secret?.defaultMode ??
    downwardAPI?.defaultMode ??
    projected?.defaultMode ??
    defaultFileMode;
  const parts: Sources = projected
    ? (projected.sources ?? [])
    : [
        {
          ...(configMap ? { configMap } : {}),
          ...(secret
            ? {
                secret: {
                  name: secret.secretName ?? '',
                  ...(secret.items ? { items: secret.items } : {}),
                  ...(secret.optional == null ? {} : { optional: secret.optional }),
                },
              }
            : {}),
          ...(downwardAPI ? { downwardAPI: { ...(downwardAPI.items ? { items: downwardAPI.items } : {}) } } : {}),
        },
      ];
  for (const part of parts) {
    const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = part;
    if (configMap) addConfigMap(files, configMap, await sources.configMap(configMap.name ?? ''), mode);
    if (secret) addSecret(files, secret, await sources.secret(secret.name ?? ''), mode);
    if (downwardAPI) addFields(files, pod, downwardAPI, mode, context);
    if (serviceAccountToken) {
      const { audience = '', expirationSeconds } = serviceAccountToken;
      const token = await sources.token({ audience, expirationSeconds: expirationSeconds ?? 3600 });
      addToken(files, pod, serviceAccountToken.path, token, mode);
    }
    if (clusterTrustBundle) throw new Error('ClusterTrustBundle projection is not supported in static kubelet mode');
  }
  return files;
}

type ContentFiles = Map<string, ContentFile>;
type Part = Sources[number];

function addConfigMap(
  files: ContentFiles,
  { name = '', items, optional }: NonNullable<Part['configMap']>,
  found: ConfigMap | undefined,
  mode: number,
): void {
  if (!found && !optional) throw new Error(`configmap ${JSON.stringify(name)} not found`);
  const data: { [key: string]: string | Uint8Array } = { ...found?.data };
  for (const [key, value] of Object.entries(found?.binaryData ?? {})) data[key] = Buffer.from(value, 'base64');
  addKeys(files, data, items, mode, optional ?? false);
}

function addSecret(
  files: ContentFiles,
  { name = '', items, optional }: NonNullable<Part['secret']>,
  found: Secret | undefined,
  mode: number,
): void {
  if (!found && !optional) throw new Error(`secret ${JSON.stringify(name)} not found`);
  const data: { [key: string]: Uint8Array } = {};
  for (const [key, value] of Object.entries(found?.data ?? {})) data[key] = Buffer.from(value, 'base64');
  addKeys(files, data, items, mode, optional ?? false);
}

function addFields(
  files: ContentFiles,
  pod: Pod,
  { items = [] }: NonNullable<Part['downwardAPI']>,
  mode: number,
  context: DownwardContext,
): void {
  for (const { path, fieldRef, resourceFieldRef, mode: own } of items) {
    const container = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].find(
      ({ name }) => name === resourceFieldRef?.containerName,
    );
    const data = fieldRef
      ? fieldOf(pod, fieldRef, context)
      : resourceFieldRef && container
        ? resourceFieldOf(container, resourceFieldRef, context)
        : '';
    files.set(path, { data, mode: own ?? mode });
  }
}

function addToken(files: ContentFiles, pod: Pod, path: string, data: string, mode: number): void {
  const owner = userOf(pod);
  // Only the container's user, or the fsGroup of the volume, needs to read the token.
  const isRestricted = owner !== undefined || pod.spec?.securityContext?.fsGroup != null;
  files.set(path, { data, mode: isRestricted ? 0o600 : mode, owner });
}

function addKeys(
  files: ContentFiles,
  data: { readonly [key: string]: string | Uint8Array },
  items: Items | undefined,
  mode: number,
  isOptional: boolean,
): void {
  if (!items || items.length === 0) {
    for (const [key, value] of Object.entries(data)) files.set(key, { data: value, mode });
    return;
  }
  for (const { key, path, mode: own } of items) {
    const value = data[key];
    if (value !== undefined) files.set(path, { data: value, mode: own ?? mode });
    else if (!isOptional) throw new Error(`references non-existent config key: ${key}`);
  }
}

/** Reports whether two volumes have the same files. */
export function isSameContent(one: Content | undefined, other: Content): boolean {
  if (one?.size !== other.size) return false;
  for (const [path, { data, mode, owner }] of other) {
    const known = one.get(path);
    if (known?.mode !== mode || known.owner !== owner || !isSameData(known.data, data)) return false;
  }
  return true;
}

function isSameData(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return one === other || Buffer.compare(Buffer.from(one), Buffer.from(other)) === 0;
}
