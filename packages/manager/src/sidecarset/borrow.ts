/** What a sidecar takes over from the containers of its Pod (sidecarset.md §8.5). */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarContainer } from '@kruise/api/kruise/sidecarset';
import { sidecarInjectedEnv } from '@kruise/api/kruise/well-known';
import { compareStrings } from '@kruise/values/go-syntax';
import { validateQualifiedName } from '@kruise/values/names';

type EnvVar = NonNullable<Container['env']>[number];

/** The sidecar with the mounts, devices and variables it shares, and the one that tells it from other containers. */
export function withBorrowed(sidecar: SidecarContainer, pod: Pod): SidecarContainer {
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

/** Whether a container of a Pod comes from a SidecarSet. */
export function isInjected({ env = [] }: Container): boolean {
  return env.find(({ name }) => name === sidecarInjectedEnv)?.value === 'true';
}

/** A sidecar's own variables come first and stay as they are, what is twice among them included. */
function firstOfEachName(env: readonly EnvVar[], own: number): readonly EnvVar[] {
  const seen = new Set<string>();
  return env.filter(({ name }, index) => {
    const isKept = index <= own || !seen.has(name);
    seen.add(name);
    return isKept;
  });
}

/** The variables that paths of mounts are made of: `logs/$(POD_NAME)`. */
function expandedInMounts({ volumeMounts = [], env = [] }: Container): readonly EnvVar[] {
  return volumeMounts
    .flatMap(({ subPathExpr = '' }) => [...subPathExpr.matchAll(/\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)/g)])
    .flatMap(([, name]) => env.find((each) => each.name === name) ?? []);
}

function transferred({ transferEnv = [] }: SidecarContainer, pod: Pod): readonly EnvVar[] {
  return transferEnv.flatMap(({ sourceContainerName, sourceContainerNameFrom, envName, envNames = [] }) => {
    const fieldPath = sourceContainerNameFrom?.fieldRef?.fieldPath;
    const source = fieldPath === undefined ? sourceContainerName : metadataAt(pod, fieldPath);
    // Of two variables of one name the last is the one that counts.
    const { env = [] } = pod.spec?.containers.find(({ name }) => name === source) ?? {};
    const names = new Set([...(envName ? [envName] : []), ...envNames]);
    return [...names].sort(compareStrings).flatMap((wanted) => env.findLast(({ name }) => name === wanted) ?? []);
  });
}

/** The label or annotation that a path speaks of; nothing where it speaks of something else. */
function metadataAt({ metadata }: Pod, path: string): string | undefined {
  const [, from, key = ''] = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(path) ?? [];
  if (from === undefined) return undefined;
  const name = from === 'annotations' ? key.toLowerCase() : key;
  if (validateQualifiedName(name).length > 0) return undefined;
  return metadata[from as 'labels' | 'annotations']?.[key];
}
