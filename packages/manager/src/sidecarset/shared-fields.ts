/** Volume mounts, devices and environment variables that a sidecar takes over from the containers of its Pod. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarContainer } from '@kruise/api/kruise/sidecarset';
import { sidecarInjectedEnv } from '@kruise/api/kruise/well-known';
import { compareStrings } from '@kruise/values/go-syntax';
import { validateQualifiedName } from '@kruise/values/names';

type EnvVar = NonNullable<Container['env']>[number];

/**
 * Returns the sidecar with the mounts, devices and variables that it shares, and the variable that marks it as
 * injected.
 */
export function withSharedFields(sidecar: SidecarContainer, pod: Pod): SidecarContainer {
  const apps = (pod.spec?.containers ?? []).filter((container) => !isInjected(container));
  const { volumeMounts: ownMounts = [], volumeDevices: ownDevices = [] } = sidecar;
  const shared = sidecar.shareVolumePolicy?.type === 'enabled' ? apps : [];
  const sharedDevices = sidecar.shareVolumeDevicePolicy?.type === 'enabled' ? apps : [];

  const volumeMounts = [...ownMounts];
  const taken = new Set([
    ...ownMounts.map(({ mountPath }) => mountPath),
    ...ownDevices.map(({ devicePath }) => devicePath),
  ]);
  for (const mount of shared.flatMap((app) => app.volumeMounts ?? [])) {
    if (!taken.has(mount.mountPath)) volumeMounts.push(mount);
    taken.add(mount.mountPath);
  }
  const volumeDevices = [...ownDevices];
  for (const device of sharedDevices.flatMap((app) => app.volumeDevices ?? [])) {
    if (!taken.has(device.devicePath)) volumeDevices.push(device);
    taken.add(device.devicePath);
  }
  const env = [
    ...(sidecar.env ?? []),
    { name: sidecarInjectedEnv, value: 'true' },
    ...transferred(sidecar, pod),
    ...shared.flatMap(expandedInMounts),
  ];
  return {
    ...sidecar,
    env: firstOfEachName(env, (sidecar.env ?? []).length),
    ...(volumeMounts.length > 0 ? { volumeMounts } : {}),
    ...(volumeDevices.length > 0 ? { volumeDevices } : {}),
  };
}

/** Reports whether a SidecarSet injected a container of a Pod. */
export function isInjected({ env = [] }: Container): boolean {
  return env.find(({ name }) => name === sidecarInjectedEnv)?.value === 'true';
}

/**
 * Removes duplicate variables. A sidecar's own variables come first and stay as they are, including duplicates among
 * them.
 */
function firstOfEachName(env: readonly EnvVar[], own: number): readonly EnvVar[] {
  const seen = new Set<string>();
  return env.filter(({ name }, index) => {
    const isKept = index <= own || !seen.has(name);
    seen.add(name);
    return isKept;
  });
}

/** Returns the variables that mount paths refer to: `logs/$(POD_NAME)`. */
function expandedInMounts({ volumeMounts = [], env = [] }: Container): readonly EnvVar[] {
  return volumeMounts
    .flatMap(({ subPathExpr = '' }) => [...subPathExpr.matchAll(/\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g)])
    .flatMap(([, name]) => env.find((each) => each.name === name) ?? []);
}

function transferred({ transferEnv = [] }: SidecarContainer, pod: Pod): readonly EnvVar[] {
  return transferEnv.flatMap(({ sourceContainerName, sourceContainerNameFrom, envName, envNames = [] }) => {
    const fieldPath = sourceContainerNameFrom?.fieldRef?.fieldPath;
    const source = fieldPath === undefined ? sourceContainerName : metadataAt(pod, fieldPath);
    // If two variables have the same name, the last one is effective.
    const { env = [] } = pod.spec?.containers.find(({ name }) => name === source) ?? {};
    const names = new Set([...(envName ? [envName] : []), ...envNames]);
    return [...names].sort(compareStrings).flatMap((wanted) => env.findLast(({ name }) => name === wanted) ?? []);
  });
}

/** Returns the value of the label or annotation at a field path; undefined for any other path. */
function metadataAt({ metadata }: Pod, path: string): string | undefined {
  const [, from, key = ''] = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(path) ?? [];
  if (from === undefined) return undefined;
  const name = from === 'annotations' ? key.toLowerCase() : key;
  if (validateQualifiedName(name).length > 0) return undefined;
  return metadata[from as 'labels' | 'annotations']?.[key];
}
