/** The volumes of one Pod on its node: made before its containers start, kept up to date, gone after they ended. */
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import type { Volume } from '@kruise/api/core/volume';
import { controllerOf } from '@kruise/machinery/owner-references';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { FileStat, HostFiles } from '../cri/runtime.ts';
import type { NodeFacts } from './downward.ts';
import { podDirectory, privateMode, removePodDirectory } from './pod-directory.ts';
import type { Sources } from './sources.ts';
import { type Content, contentOf, isMadeOfObjects, isSameContent } from './volume-content.ts';
import { giveToGroup } from './volume-ownership.ts';
import { nestedMountsOf, writePayload } from './volume-payload.ts';

/** Where a volume is on the node. */
export type MountedVolume = { readonly path: string; readonly isReadOnly: boolean };

/** A volume that could not be had. */
export class MountError extends Error {
  override readonly name = 'MountError';
  readonly volume: string;

  constructor(volume: string, cause: Error) {
    super(`MountVolume.SetUp failed for volume ${JSON.stringify(volume)} : ${cause.message}`, { cause });
    this.volume = volume;
  }
}

/** A claim that has nothing to mount yet. That is no failure: it is waited for, as long as it takes. */
export class ClaimNotReadyError extends Error {
  override readonly name = 'ClaimNotReadyError';
}

/** What volumes are made with. */
export type VolumeContext = {
  readonly files: HostFiles;
  readonly clock: Clock;
  readonly random: Random;
  readonly sources: Pick<Sources, 'configMap' | 'secret' | 'claim' | 'volume'>;
  /** A token of the Pod's service account. */
  readonly token: (
    pod: Pod,
    request: { readonly audience: string; readonly expirationSeconds: number },
  ) => Promise<string>;
  readonly rootDirectory: string;
};

/** The volumes of a Pod. */
export type PodVolumes = {
  /** Those that are there, by their names. */
  readonly mounted: ReadonlyMap<string, MountedVolume>;
  /** Makes what is missing and updates what has changed. Throws `MountError`s, gathered. */
  mount(pod: Pod, facts: NodeFacts): Promise<ReadonlyMap<string, MountedVolume>>;
  /** Removes all that was made for the Pod. */
  unmount(pod: Pod): Promise<void>;
};

/** The volumes of a Pod, of which none is there yet. */
export function createPodVolumes({ files, clock, random, sources, token, rootDirectory }: VolumeContext): PodVolumes {
  const mounted = new Map<string, MountedVolume>();
  const contents = new Map<string, Content>();

  async function mountOne(pod: Pod, volume: Volume, facts: NodeFacts): Promise<MountedVolume> {
    const { namespace = '' } = pod.metadata;
    const { fsGroup } = pod.spec?.securityContext ?? {};
    const known = mounted.get(volume.name);
    if (isMadeOfObjects(volume)) {
      const path = pathOf(pod, pluginOf(volume), volume.name);
      const content = await contentOf(pod, volume, facts, {
        configMap: (name) => sources.configMap(namespace, name),
        secret: (name) => sources.secret(namespace, name),
        token: (request) => token(pod, request),
      });
      if (!isSameContent(contents.get(volume.name), content)) {
        await files.makeDirectory(parentOf(path), { mode: privateMode });
        const nested = nestedMountsOf(pod, volume.name);
        await writePayload(files, path, content, { now: clock.now(), random, group: fsGroup, nested });
        contents.set(volume.name, content);
      }
      // A container that could write here could have the kubelet, as root, write elsewhere the next time.
      return known ?? { path, isReadOnly: true };
    }
    if (known) return known;
    if (volume.hostPath) return { path: await checkedHostPath(volume.hostPath), isReadOnly: false };
    if (volume.persistentVolumeClaim) {
      const { claimName, readOnly } = volume.persistentVolumeClaim;
      return mountClaim(pod, await claimOf(namespace, claimName), readOnly ?? false);
    }
    if (volume.ephemeral) {
      const claim = await claimOf(namespace, `${pod.metadata.name}-${volume.name}`);
      checkOwner(claim, pod);
      return mountClaim(pod, claim, false);
    }
    if (volume.emptyDir || !pluginOf(volume)) {
      const path = pathOf(pod, 'kubernetes.io~empty-dir', volume.name);
      // As file systems in memory have it: all may make files, and delete their own.
      const mode = volume.emptyDir?.medium === 'Memory' ? 0o1777 : 0o777;
      await files.makeDirectory(parentOf(path), { mode: privateMode });
      await files.makeDirectory(path, { mode });
      if (fsGroup != null) await giveToGroup(files, path, { group: fsGroup, isReadOnly: false });
      return { path, isReadOnly: false };
    }
    throw new Error('no volume plugin matched');
  }

  async function claimOf(namespace: string, name: string): Promise<PersistentVolumeClaim> {
    const claim = await sources.claim(namespace, name);
    if (!claim) throw new ClaimNotReadyError(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    return claim;
  }

  async function mountClaim(pod: Pod, claim: PersistentVolumeClaim, isReadOnly: boolean): Promise<MountedVolume> {
    if (claim.metadata.deletionTimestamp != null) throw new ClaimNotReadyError('PVC is being deleted');
    const volumeName = claim.spec?.volumeName;
    if (claim.status?.phase !== 'Bound' || !volumeName) throw new ClaimNotReadyError('PVC is not bound');
    const found = await sources.volume(volumeName);
    if (!found) throw new ClaimNotReadyError(`persistentvolume ${JSON.stringify(volumeName)} not found`);
    const { hostPath, local } = found.spec ?? {};
    if (hostPath) return { path: await checkedHostPath(hostPath), isReadOnly };
    if (local) {
      if (!(await files.stat(local.path))) throw new Error(`path ${JSON.stringify(local.path)} does not exist`);
      const { fsGroup, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
      const onlyOnMismatch = fsGroupChangePolicy === 'OnRootMismatch';
      if (fsGroup != null && !isReadOnly) {
        await giveToGroup(files, local.path, { group: fsGroup, isReadOnly, onlyOnMismatch });
      }
      return { path: local.path, isReadOnly };
    }
    throw new Error(`no volume plugin matched`);
  }

  async function checkedHostPath({ path, type }: { readonly path: string; readonly type?: string | null }) {
    if (!type) {
      // The runtime wants something to be there, and makes a directory where there is nothing.
      if (!(await files.stat(path))) await files.makeDirectory(path, { mode: 0o755 });
      return path;
    }
    const found = await files.stat(path);
    if (type === 'DirectoryOrCreate' && !found) await files.makeDirectory(path, { mode: 0o755 });
    else if (type === 'FileOrCreate' && !found) await files.writeFile(path, '', { mode: 0o644, isNew: true });
    else checkType(path, type, found);
    return path;
  }

  const pathOf = (pod: Pod, plugin: string, name: string) =>
    `${podDirectory(pod, rootDirectory)}/volumes/${plugin}/${name}`;

  return {
    mounted,
    async mount(pod, facts) {
      const failures: MountError[] = [];
      for (const volume of pod.spec?.volumes ?? []) {
        try {
          mounted.set(volume.name, await mountOne(pod, volume, facts));
        } catch (error) {
          failures.push(new MountError(volume.name, error as Error));
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'volumes are missing');
      return mounted;
    },
    async unmount(pod) {
      mounted.clear();
      contents.clear();
      await removePodDirectory(files, podDirectory(pod, rootDirectory));
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** A claim by the name of a Pod's own volume may be somebody else's, who is not to lose what is in it. */
function checkOwner(claim: PersistentVolumeClaim, { metadata }: Pod): void {
  const { name, namespace } = claim.metadata;
  if (controllerOf(claim)?.uid === metadata.uid) return;
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
