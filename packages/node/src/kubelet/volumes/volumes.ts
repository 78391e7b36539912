/**
 * Volumes of one Pod on its node: mounted before its containers start, kept up to date, and unmounted after the Pod has
 * terminated.
 */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { Volume } from '@kruise/api/core/volume';
import { controllerOf } from '@kruise/machinery/owner-references';
import { podLimits } from '@kruise/machinery/pod-resources';
import type { Clock } from '@kruise/values/clock';
import { parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { Random } from '@kruise/values/random';
import type { FileStat, HostFiles } from '../../cri/runtime.ts';
import type { DownwardContext } from '../containers/downward-api.ts';
import type { CsiVolumes } from '../csi/csi-volumes.ts';
import type { Sources } from '../pods/sources.ts';
import { isHugePages, pageSizeOf } from './huge-pages.ts';
import { podDirectory, privateMode, removePodDirectory } from './pod-directory.ts';
import { type Content, contentOf, hasObjectContent, isSameContent } from './volume-content.ts';
import { PersistentVolumeClaimNotReadyError } from './volume-errors.ts';
import { setVolumeGroup } from './volume-ownership.ts';
import { nestedMountsOf, writePayload } from './volume-payload.ts';

/** Host path of a mounted volume. */
export type MountedVolume = { readonly path: string; readonly isReadOnly: boolean };

/** Error of a volume that could not be mounted. */
export class MountError extends Error {
  override readonly name = 'MountError';
  readonly volume: string;

  constructor(volume: string, cause: Error) {
    super(`MountVolume.SetUp failed for volume ${JSON.stringify(volume)} : ${cause.message}`, { cause });
    this.volume = volume;
  }
}

/** Dependencies of volumes. */
export type VolumeContext = {
  readonly files: HostFiles;
  readonly clock: Clock;
  readonly random: Random;
  readonly sources: Pick<Sources, 'configMap' | 'secret' | 'claim' | 'volume'>;
  /** Requests a token of the Pod's service account. */
  readonly token: (
    pod: Pod,
    request: { readonly audience: string; readonly expirationSeconds: number },
  ) => Promise<string>;
  readonly rootDirectory: string;
  /** Returns the memory of the node that Pods may use. */
  readonly allocatableMemory: () => number;
  /** Volumes of CSI drivers; absent on nodes without plugins. */
  readonly csi?: CsiVolumes | undefined;
};

/** Volumes of a Pod. */
export type PodVolumes = {
  /** Mounted volumes by name. */
  readonly mounted: ReadonlyMap<string, MountedVolume>;
  /** Mounts missing volumes and updates changed ones. Throws an AggregateError of `MountError`s. */
  mount(pod: Pod, context: DownwardContext): Promise<ReadonlyMap<string, MountedVolume>>;
  /** Removes everything that was mounted for the Pod. */
  unmount(pod: Pod): Promise<void>;
};

/** Creates the volumes of a Pod. */
export function createPodVolumes(context: VolumeContext): PodVolumes {
  const { files, clock, random, sources, token, rootDirectory, allocatableMemory, csi } = context;
  const mounted = new Map<string, MountedVolume>();
  const contents = new Map<string, Content>();
  /** Volumes whose driver is asked again on every sync: to refresh their contents, or to grow them. */
  const driverVolumes = new Set<string>();

  async function mountOne(pod: Pod, volume: Volume, context: DownwardContext): Promise<MountedVolume> {
    const { namespace = '' } = pod.metadata;
    const { fsGroup } = pod.spec?.securityContext ?? {};
    const known = mounted.get(volume.name);
    if (hasObjectContent(volume)) {
      const path = pathOf(pod, pluginOf(volume), volume.name);
      const content = await contentOf(pod, volume, context, {
        configMap: (name) => sources.configMap(namespace, name),
        secret: (name) => sources.secret(namespace, name),
        token: (request) => token(pod, request),
      });
      if (!isSameContent(contents.get(volume.name), content)) {
        await files.makeDirectory(parentOf(path), { mode: privateMode });
        // Secrets and tokens are never written to a disk.
        if (!volume.configMap) await files.mountMemory(path, { mode: 0o755 });
        const nested = nestedMountsOf(pod, volume.name);
        await writePayload(files, path, content, { now: clock.now(), random, group: fsGroup, nested });
        contents.set(volume.name, content);
      }
      // The volume is read-only: a container that could write here could make the kubelet, as root, write elsewhere on
      // the next update.
      return known ?? { path, isReadOnly: true };
    }
    if (known && !driverVolumes.has(volume.name)) return known;
    if (volume.csi) {
      if (!csi) throw new Error('no volume plugin matched');
      driverVolumes.add(volume.name);
      return csi.mountInline(pod, volume);
    }
    if (volume.hostPath) return { path: await checkedHostPath(volume.hostPath), isReadOnly: false };
    if (volume.persistentVolumeClaim) {
      const { claimName, readOnly } = volume.persistentVolumeClaim;
      const pvc = await getPersistentVolumeClaim(namespace, claimName);
      return mountPersistentVolumeClaim(pod, volume, pvc, readOnly ?? false);
    }
    if (volume.ephemeral) {
      const pvc = await getPersistentVolumeClaim(namespace, `${pod.metadata.name}-${volume.name}`);
      checkOwner(pvc, pod);
      return mountPersistentVolumeClaim(pod, volume, pvc, false);
    }
    if (volume.emptyDir || !pluginOf(volume)) {
      const path = pathOf(pod, 'kubernetes.io~empty-dir', volume.name);
      await files.makeDirectory(parentOf(path), { mode: privateMode });
      if (volume.emptyDir?.medium === 'Memory') {
        // Same mode as a tmpfs root: all users may create files and delete their own.
        await files.mountMemory(path, { mode: 0o1777, sizeBytes: memoryLimitOf(pod, volume.emptyDir) });
      } else if (isHugePages(volume.emptyDir?.medium)) {
        await files.mountMemory(path, { mode: 0o1777, hugePages: pageSizeOf(pod, volume.emptyDir?.medium ?? '') });
      } else await files.makeDirectory(path, { mode: 0o777 });
      if (fsGroup != null) await setVolumeGroup(files, path, { group: fsGroup, isReadOnly: false });
      return { path, isReadOnly: false };
    }
    throw new Error('no volume plugin matched');
  }

  async function getPersistentVolumeClaim(namespace: string, name: string): Promise<PersistentVolumeClaim> {
    const pvc = await sources.claim(namespace, name);
    if (!pvc) throw new PersistentVolumeClaimNotReadyError(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    return pvc;
  }

  async function mountPersistentVolumeClaim(
    pod: Pod,
    { name }: Volume,
    pvc: PersistentVolumeClaim,
    isReadOnly: boolean,
  ): Promise<MountedVolume> {
    if (pvc.metadata.deletionTimestamp != null) throw new PersistentVolumeClaimNotReadyError('PVC is being deleted');
    const volumeName = pvc.spec?.volumeName;
    if (pvc.status?.phase !== 'Bound' || !volumeName) throw new PersistentVolumeClaimNotReadyError('PVC is not bound');
    const found = await sources.volume(volumeName);
    if (!found)
      throw new PersistentVolumeClaimNotReadyError(`persistentvolume ${JSON.stringify(volumeName)} not found`);
    const { hostPath, local } = found.spec ?? {};
    if (hostPath) return { path: await checkedHostPath(hostPath), isReadOnly };
    if (local) {
      if (!(await files.stat(local.path))) throw new Error(`path ${JSON.stringify(local.path)} does not exist`);
      const { fsGroup, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
      const onlyOnMismatch = fsGroupChangePolicy === 'OnRootMismatch';
      if (fsGroup != null && !isReadOnly) {
        await setVolumeGroup(files, local.path, { group: fsGroup, isReadOnly, onlyOnMismatch });
      }
      return { path: local.path, isReadOnly };
    }
    if (found.spec?.csi && csi) {
      driverVolumes.add(name);
      return csi.mountPersistent(pod, { volume: found, claim: pvc, isReadOnly });
    }
    throw new Error(`no volume plugin matched`);
  }

  async function checkedHostPath({ path, type }: { readonly path: string; readonly type?: string | null }) {
    if (!type) {
      // The runtime requires the path to exist, and creates a directory for a missing path.
      if (!(await files.stat(path))) await files.makeDirectory(path, { mode: 0o755 });
      return path;
    }
    const found = await files.stat(path);
    if (type === 'DirectoryOrCreate' && !found) await files.makeDirectory(path, { mode: 0o755 });
    else if (type === 'FileOrCreate' && !found) await files.writeFile(path, '', { mode: 0o644, isNew: true });
    else checkType(path, type, found);
    return path;
  }

  /** Returns the size of a volume in memory: it counts towards the memory limit of the Pod's containers. */
  function memoryLimitOf({ spec }: Pod, { sizeLimit }: NonNullable<Volume['emptyDir']>): number {
    const limit = spec && podLimits(spec).get('memory');
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
    const isLimited = containers.every((each) => each.resources?.limits?.['memory'] !== undefined);
    const maximum = limit && isLimited ? quantityValue(limit) : allocatableMemory();
    return sizeLimit == null ? maximum : Math.min(maximum, quantityValue(parseQuantity(sizeLimit)));
  }

  const pathOf = (pod: Pod, plugin: string, name: string) =>
    `${podDirectory(pod, rootDirectory)}/volumes/${plugin}/${name}`;

  return {
    mounted,
    async mount(pod, context) {
      const failures: MountError[] = [];
      for (const volume of pod.spec?.volumes ?? []) {
        try {
          mounted.set(volume.name, await mountOne(pod, volume, context));
        } catch (error) {
          failures.push(new MountError(volume.name, error as Error));
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'some volumes could not be mounted');
      return mounted;
    },
    async unmount(pod) {
      mounted.clear();
      contents.clear();
      driverVolumes.clear();
      await removePodDirectory(files, podDirectory(pod, rootDirectory), csi);
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/**
 * Checks that the PVC of an ephemeral volume belongs to the Pod. A PVC of the same name may belong to another owner,
 * whose data must not be used.
 */
function checkOwner(pvc: PersistentVolumeClaim, { metadata }: Pod): void {
  const { name, namespace } = pvc.metadata;
  if (controllerOf(pvc)?.uid === metadata.uid) return;
  const owner = `${metadata.namespace}/${metadata.name}`;
  throw new Error(`PVC ${namespace}/${name} was not created for pod ${owner} (pod is not owner)`);
}

const plugins: readonly (readonly [keyof Volume, string])[] = [
  ['configMap', 'kubernetes.io~configmap'],
  ['secret', 'kubernetes.io~secret'],
  ['downwardAPI', 'kubernetes.io~downward-api'],
  ['projected', 'kubernetes.io~projected'],
];

function pluginOf(volume: Volume): string {
  return plugins.find(([field]) => volume[field])?.[1] ?? '';
}

const typeNames: { readonly [type: string]: readonly [FileStat['type'], string] } = {
  Directory: ['directory', 'directory'],
  DirectoryOrCreate: ['directory', 'directory'],
  File: ['file', 'file'],
  FileOrCreate: ['file', 'file'],
  Socket: ['socket', 'socket file'],
  CharDevice: ['characterDevice', 'character device'],
  BlockDevice: ['blockDevice', 'block device'],
};

function checkType(path: string, type: string, found: FileStat | undefined): void {
  const [wanted, name] = typeNames[type] ?? [];
  if (!wanted || found?.type === wanted || found?.type === 'symlink') return;
  throw new Error(`hostPath type check failed: ${path} is not a ${name}`);
}
