/**
 * Volumes of CSI drivers on this node. What is mounted is recorded in files beside the mounts, so that a restarted
 * kubelet unmounts what an earlier one has mounted, also of Pods that no longer exist.
 */
import { createHash } from 'node:crypto';
import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import type { Volume } from '@kruise/api/core/volume';
import { type CSIDriver, csiDriver } from '@kruise/api/storage/csidriver';
import { volumeAttachment } from '@kruise/api/storage/volumeattachment';
import type { Client } from '@kruise/client/client';
import { GrpcError, goErrorText } from '@kruise/client/grpc/status';
import { isNotFound } from '@kruise/machinery/status';
import { stringify } from '@kruise/values/go-json';
import { compareQuantities, formatQuantity, parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { HostFiles } from '../../cri/runtime.ts';
import type { RecordPodEvent } from '../node/node-context.ts';
import { podDirectory, privateMode } from '../volumes/pod-directory.ts';
import type { Token, TokenRequest } from '../volumes/tokens.ts';
import { PersistentVolumeClaimNotReadyError } from '../volumes/volume-errors.ts';
import { setVolumeGroup } from '../volumes/volume-ownership.ts';
import type { CsiClient, VolumeStats } from './csi-client.ts';
import { VolumeCapability_AccessMode_Mode as Mode } from './generated/csi_pb.ts';
import { accessModeOf, checkLifecycle, mountCapability, podInfoOf, shouldSetGroup } from './volume-capability.ts';

/** A PVC of a Pod with its volume. */
export type PersistentMount = {
  readonly volume: PersistentVolume;
  readonly claim: PersistentVolumeClaim;
  readonly isReadOnly: boolean;
};

/** Host path of a mounted volume. */
type Mounted = { readonly path: string; readonly isReadOnly: boolean };

/** CSI volumes of a node. */
export type CsiVolumes = {
  /** Reads which volumes an earlier kubelet has left mounted. */
  load(): Promise<void>;
  /** Returns the names of attachable volumes that are in use here, for the node status; undefined until known. */
  inUse(): readonly string[] | undefined;
  mountPersistent(pod: Pod, mount: PersistentMount): Promise<Mounted>;
  /** Mounts a volume that is written out in the Pod and lives as long as the Pod. */
  mountInline(pod: Pod, volume: Volume): Promise<Mounted>;
  /** Returns the usage of a mounted volume, given by its path; undefined if no driver can report it. */
  statsOf(path: string): Promise<VolumeStats | undefined>;
  /** Unmounts all CSI volumes of a Pod, given by its directory. */
  release(directory: string): Promise<void>;
};

/** Dependencies of CSI volumes. */
export type CsiVolumesContext = {
  readonly client: Client;
  readonly files: HostFiles;
  readonly nodeName: string;
  readonly rootDirectory: string;
  /** Returns the client of a registered driver. */
  readonly driver: (name: string) => CsiClient | undefined;
  readonly node: () => Node | undefined;
  readonly token: (pod: Pod, request: TokenRequest) => Promise<Token>;
  readonly record: RecordPodEvent;
  /** Called when the volumes in use have changed. */
  readonly onInUseChange: () => void;
};

/** Record of a mounted volume. The names are those of Kubernetes, whose kubelets read them, too. */
type VolumeData = {
  readonly specVolID: string;
  readonly volumeHandle: string;
  readonly driverName: string;
  readonly nodeName: string;
  readonly attachmentID: string;
  readonly volumeLifecycleMode: 'Persistent' | 'Ephemeral';
};

const dataFile = 'vol_data.json';
const pluginDirectory = 'kubernetes.io~csi';
const tokensKey = 'csi.storage.k8s.io/serviceAccount.tokens';

/** Creates the CSI volumes of a node. */
export function createCsiVolumes(context: CsiVolumesContext): CsiVolumes {
  const { client, files, nodeName, rootDirectory, token, record } = context;
  /** Pods by the unique names of the volumes that they use. */
  const users = new Map<string, Set<string>>();
  let isLoaded = false;
  /**
   * Directories of the volumes that this kubelet has mounted. After a restart the driver is asked once more, because the
   * machine may have been rebooted: the calls are idempotent.
   */
  const ready = new Set<string>();
  /** Staging paths of the volumes that this kubelet has staged. */
  const staged = new Set<string>();
  const exclusively = createKeyedQueue();

  async function load(): Promise<void> {
    if (isLoaded) return;
    for (const { uid, data } of await mountedVolumes()) if (data.attachmentID !== '') addUser(data, uid);
    isLoaded = true;
    context.onInUseChange();
  }

  async function mountedVolumes() {
    const found: { readonly uid: string; readonly directory: string; readonly data: VolumeData }[] = [];
    const pods = `${rootDirectory}/pods`;
    if (!(await files.stat(pods))) return found;
    for (const uid of await files.list(pods)) {
      for (const each of await volumesOf(`${pods}/${uid}`)) found.push({ uid, ...each });
    }
    return found;
  }

  async function volumesOf(podPath: string) {
    const parent = `${podPath}/volumes/${pluginDirectory}`;
    const found: { readonly directory: string; readonly data: VolumeData }[] = [];
    if ((await files.stat(parent))?.type !== 'directory') return found;
    for (const name of await files.list(parent)) {
      const directory = `${parent}/${name}`;
      const data = await readData(directory);
      if (data) found.push({ directory, data });
    }
    return found;
  }

  async function readData(directory: string): Promise<VolumeData | undefined> {
    const path = `${directory}/${dataFile}`;
    if ((await files.stat(path))?.type !== 'file') return undefined;
    const text = Buffer.from(await files.readFile(path)).toString();
    // Only a kubelet writes here, but a machine that lost its power may have left the file empty: the driver was not
    // called then, because the file is written before.
    if (text === '') return undefined;
    // The cast is safe: a kubelet renames the file only when it is complete.
    return JSON.parse(text) as VolumeData;
  }

  async function writeData(directory: string, data: VolumeData): Promise<void> {
    await files.makeDirectory(directory, { mode: privateMode });
    await files.writeFile(`${directory}/.${dataFile}`, stringify(data), { mode: 0o600 });
    await files.rename(`${directory}/.${dataFile}`, `${directory}/${dataFile}`);
  }

  function addUser(data: VolumeData, uid: string): void {
    const name = uniqueNameOf(data);
    const known = users.get(name) ?? new Set<string>();
    if (known.size === 0) users.set(name, known);
    known.add(uid);
  }

  function removeUser(data: VolumeData, uid: string): void {
    const known = users.get(uniqueNameOf(data));
    if (!known?.delete(uid) || known.size > 0) return;
    users.delete(uniqueNameOf(data));
    context.onInUseChange();
  }

  function driverOf(name: string): CsiClient {
    const found = context.driver(name);
    if (!found) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
    return found;
  }

  async function driverObject(name: string): Promise<CSIDriver | undefined> {
    return await client.get(csiDriver, { name }).catch(undefinedIfNotFound);
  }

  /** Returns the context of the attachment. Throws while the volume is not attached to this node. */
  async function attachmentOf(data: VolumeData, uid: string, pvName: string): Promise<Record<string, string>> {
    const uniqueName = uniqueNameOf(data);
    const isNew = !users.get(uniqueName)?.has(uid);
    addUser(data, uid);
    if (isNew) context.onInUseChange();
    // A volume that the status does not report as in use may be detached at any moment.
    const isReported = context.node()?.status?.volumesInUse?.includes(uniqueName);
    const found = await client.get(volumeAttachment, { name: data.attachmentID }).catch(undefinedIfNotFound);
    const isGoing = found?.metadata.deletionTimestamp != null;
    if (isReported && found?.status?.attached && !isGoing) return { ...found.status.attachmentMetadata };
    throw new PersistentVolumeClaimNotReadyError(`volume ${JSON.stringify(pvName)} is not attached to the node yet`);
  }

  async function secretOf(
    reference: { readonly name?: string; readonly namespace?: string } | null | undefined,
    namespace = reference?.namespace ?? '',
  ): Promise<Record<string, string>> {
    if (!reference?.name) return {};
    const { data = {} } = await client.get(secret, { name: reference.name, namespace });
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }

  /** Returns the tokens of the Pod's service account that a driver asks for. */
  async function tokensOf(pod: Pod, driver: CSIDriver | undefined): Promise<Record<string, string>> {
    const requests = driver?.spec.tokenRequests ?? [];
    if (requests.length === 0) return {};
    const tokens: { [audience: string]: unknown } = {};
    for (const { audience, expirationSeconds } of requests) {
      const { text, expiresAt } = await token(pod, { audience, expirationSeconds: Number(expirationSeconds ?? 3600) });
      tokens[audience] = { token: text, expirationTimestamp: expiresAt };
    }
    return { [tokensKey]: stringify(tokens) };
  }

  const stagingOf = ({ driverName, volumeHandle }: VolumeData) =>
    `${rootDirectory}/plugins/kubernetes.io/csi/${driverName}/${sha256(volumeHandle)}`;

  async function mountPersistent(pod: Pod, { volume, claim, isReadOnly }: PersistentMount): Promise<Mounted> {
    const { csi, accessModes = [], mountOptions = [], volumeMode } = volume.spec ?? {};
    if (!csi) throw new Error('no volume plugin matched');
    if (volumeMode === 'Block') throw new Error('block volumes of CSI drivers are not supported');
    const { uid = '' } = pod.metadata;
    const pvName = volume.metadata.name ?? '';
    const driver = driverOf(csi.driver);
    const object = await driverObject(csi.driver);
    checkLifecycle(csi.driver, object, 'Persistent');
    const data: VolumeData = {
      specVolID: pvName,
      volumeHandle: csi.volumeHandle,
      driverName: csi.driver,
      nodeName,
      attachmentID: object?.spec.attachRequired === false ? '' : attachmentName(csi, nodeName),
      volumeLifecycleMode: 'Persistent',
    };
    const directory = `${podDirectory(pod, rootDirectory)}/volumes/${pluginDirectory}/${pvName}`;
    const path = `${directory}/mount`;
    const isMounted = ready.has(directory);
    const isVolumeReadOnly = isReadOnly || (csi.readOnly ?? false);
    const capabilities = await driver.capabilities();
    const mounted = { path, isReadOnly: isVolumeReadOnly };
    const staging = capabilities.has('stage') ? `${stagingOf(data)}/globalmount` : '';
    const { fsGroup, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
    const isDelegated = capabilities.has('volumeMountGroup');
    const volumeCapability = mountCapability(accessModeOf({ accessModes }, capabilities), {
      fsType: csi.fsType ?? '',
      mountFlags: mountOptions,
      group: isDelegated && fsGroup != null ? String(fsGroup) : '',
    });
    return exclusively(uniqueNameOf(data), async () => {
      if (!isMounted || object?.spec.requiresRepublish) {
        const publishContext = data.attachmentID === '' ? {} : await attachmentOf(data, uid, pvName);
        const volumeContext = {
          ...csi.volumeAttributes,
          ...podInfoOf(pod, object, false),
          ...(await tokensOf(pod, object)),
        };
        // Written first: whatever the driver has done when the kubelet stops is undone by the next one.
        await writeData(directory, data);
        if (staging !== '' && !staged.has(staging)) {
          await files.makeDirectory(staging, { mode: privateMode });
          await driver.stage({
            volumeId: csi.volumeHandle,
            publishContext,
            stagingTargetPath: staging,
            volumeCapability,
            secrets: await secretOf(csi.nodeStageSecretRef),
            volumeContext: { ...csi.volumeAttributes },
          });
          staged.add(staging);
        }
        await driver.publish({
          volumeId: csi.volumeHandle,
          publishContext,
          stagingTargetPath: staging,
          targetPath: path,
          volumeCapability,
          readonly: isVolumeReadOnly,
          secrets: await secretOf(csi.nodePublishSecretRef),
          volumeContext,
        });
      }
      if (!isMounted) {
        const inputs = {
          policy: object?.spec.fsGroupPolicy ?? undefined,
          fsType: csi.fsType ?? '',
          accessModes,
          isReadOnly: isVolumeReadOnly,
        };
        if (fsGroup != null && !isDelegated && shouldSetGroup(inputs)) {
          const onlyOnMismatch = fsGroupChangePolicy === 'OnRootMismatch';
          await setVolumeGroup(files, path, { group: fsGroup, isReadOnly: false, onlyOnMismatch });
        }
        ready.add(directory);
      }
      if (capabilities.has('expand') && !isVolumeReadOnly) {
        await expand(pod, { driver, volume, claim, path, staging, volumeCapability });
      }
      return mounted;
    });
  }

  type Expansion = {
    readonly driver: CsiClient;
    readonly volume: PersistentVolume;
    readonly claim: PersistentVolumeClaim;
    readonly path: string;
    readonly staging: string;
    readonly volumeCapability: ReturnType<typeof mountCapability>;
  };

  /** Grows the file system of a volume that the controller has enlarged. The Pod starts even if that fails. */
  async function expand(
    pod: Pod,
    { driver, volume, claim, path, staging, volumeCapability }: Expansion,
  ): Promise<void> {
    const { csi, capacity } = volume.spec ?? {};
    const wanted = parseQuantity(capacity?.['storage'] ?? '0');
    const actual = parseQuantity(claim.status?.capacity?.['storage'] ?? '0');
    if (!csi || compareQuantities(wanted, actual) <= 0) return;
    const about = `for volume ${JSON.stringify(volume.metadata.name)}`;
    try {
      await driver.expand({
        volumeId: csi.volumeHandle,
        volumePath: path,
        stagingTargetPath: staging,
        capacityRange: { requiredBytes: BigInt(Math.ceil(quantityValue(wanted))) },
        volumeCapability,
        secrets: await secretOf(csi.nodeExpandSecretRef),
      });
      await reportSize(claim, formatQuantity(wanted));
      const message = `MountVolume.NodeExpandVolume succeeded ${about} ${nodeName}`;
      record(pod, 'Normal', 'FileSystemResizeSuccessful', message);
      record(pvcAsSubject(claim), 'Normal', 'FileSystemResizeSuccessful', message);
    } catch (error) {
      const text = error instanceof GrpcError ? goErrorText(error) : (error as Error).message;
      record(pod, 'Warning', 'VolumeResizeFailed', `MountVolume.NodeExpandVolume failed ${about} : ${text}`);
    }
  }

  async function reportSize({ metadata, status }: PersistentVolumeClaim, storage: string): Promise<void> {
    const resizing: readonly string[] = ['Resizing', 'FileSystemResizePending'];
    const { name = '', namespace = '' } = metadata;
    const change = {
      capacity: { storage },
      conditions: (status?.conditions ?? []).filter(({ type }) => !resizing.includes(type)),
      ...(status?.allocatedResourceStatuses?.['storage'] ? { allocatedResourceStatuses: { storage: null } } : {}),
    };
    await client.patch(
      persistentVolumeClaim,
      { name, namespace },
      { status: change },
      { type: 'merge', subresource: 'status' },
    );
  }

  async function mountInline(pod: Pod, { name, csi }: Volume): Promise<Mounted> {
    if (!csi) throw new Error('no volume plugin matched');
    const driver = driverOf(csi.driver);
    const object = await driverObject(csi.driver);
    checkLifecycle(csi.driver, object, 'Ephemeral');
    const data: VolumeData = {
      specVolID: name,
      volumeHandle: `csi-${sha256(`${pod.metadata.uid}${name}`)}`,
      driverName: csi.driver,
      nodeName,
      attachmentID: '',
      volumeLifecycleMode: 'Ephemeral',
    };
    const directory = `${podDirectory(pod, rootDirectory)}/volumes/${pluginDirectory}/${name}`;
    const path = `${directory}/mount`;
    const isReadOnly = csi.readOnly ?? false;
    const isMounted = ready.has(directory);
    if (isMounted && !object?.spec.requiresRepublish) return { path, isReadOnly };
    const { fsGroup } = pod.spec?.securityContext ?? {};
    const isDelegated = (await driver.capabilities()).has('volumeMountGroup');
    return exclusively(uniqueNameOf(data), async () => {
      await writeData(directory, data);
      await driver.publish({
        volumeId: data.volumeHandle,
        targetPath: path,
        volumeCapability: mountCapability(Mode.SINGLE_NODE_WRITER, {
          fsType: csi.fsType ?? '',
          mountFlags: [],
          group: isDelegated && fsGroup != null ? String(fsGroup) : '',
        }),
        readonly: isReadOnly,
        secrets: await secretOf(csi.nodePublishSecretRef, pod.metadata.namespace),
        volumeContext: {
          ...csi.volumeAttributes,
          ...podInfoOf(pod, object, true),
          ...(await tokensOf(pod, object)),
        },
      });
      // The volume belongs to this Pod alone.
      const inputs = { policy: object?.spec.fsGroupPolicy ?? undefined, fsType: csi.fsType ?? '', isReadOnly };
      if (
        fsGroup != null &&
        !isDelegated &&
        !isMounted &&
        shouldSetGroup({ ...inputs, accessModes: ['ReadWriteOnce'] })
      ) {
        await setVolumeGroup(files, path, { group: fsGroup, isReadOnly: false });
      }
      ready.add(directory);
      return { path, isReadOnly };
    });
  }

  async function release(podPath: string): Promise<void> {
    const uid = podPath.slice(podPath.lastIndexOf('/') + 1);
    for (const { directory, data } of await volumesOf(podPath)) {
      await exclusively(uniqueNameOf(data), async () => {
        const driver = driverOf(data.driverName);
        await driver.unpublish(data.volumeHandle, `${directory}/mount`);
        ready.delete(directory);
        await files.remove(directory);
        await unstageUnused(driver, data);
        removeUser(data, uid);
      });
    }
    // A Pod that never got its volume was waiting for the attachment.
    for (const [name, pods] of users) {
      if (!pods.delete(uid) || pods.size > 0) continue;
      users.delete(name);
      context.onInUseChange();
    }
  }

  /** Unstages a volume that no other Pod of the node uses. */
  async function unstageUnused(driver: CsiClient, data: VolumeData): Promise<void> {
    const staging = stagingOf(data);
    if (data.volumeLifecycleMode === 'Ephemeral' || !(await files.stat(staging))) return;
    const left = await mountedVolumes();
    if (left.some((other) => uniqueNameOf(other.data) === uniqueNameOf(data))) return;
    staged.delete(`${staging}/globalmount`);
    if ((await driver.capabilities()).has('stage')) await driver.unstage(data.volumeHandle, `${staging}/globalmount`);
    await files.remove(staging);
  }

  async function statsOf(path: string): Promise<VolumeStats | undefined> {
    const directory = path.slice(0, path.lastIndexOf('/'));
    // Only volumes that this kubelet has mounted: other paths belong to other kinds of volumes.
    const data = ready.has(directory) ? await readData(directory) : undefined;
    const driver = data && context.driver(data.driverName);
    if (!driver) return undefined;
    try {
      const capabilities = await driver.capabilities();
      if (!capabilities.has('stats')) return undefined;
      const isStaged = capabilities.has('stage') && data.volumeLifecycleMode === 'Persistent';
      return await driver.stats(data.volumeHandle, path, isStaged ? `${stagingOf(data)}/globalmount` : '');
    } catch (error) {
      // One driver that does not answer must not hide the usage of everything else on the node.
      if (error instanceof GrpcError) return undefined;
      throw error;
    }
  }

  return {
    load,
    statsOf,
    inUse: () => (isLoaded ? [...users.keys()].sort() : undefined),
    mountPersistent: explained(async (pod, mount: PersistentMount) => {
      await load();
      return mountPersistent(pod, mount);
    }),
    mountInline: explained(mountInline),
    release,
  };
}

/** Errors of a driver are shown to users in the words of Go's gRPC. */
function explained<Subject>(mount: (pod: Pod, subject: Subject) => Promise<Mounted>): typeof mount {
  return async (pod, subject) => {
    try {
      return await mount(pod, subject);
    } catch (error) {
      if (error instanceof GrpcError) throw new Error(goErrorText(error), { cause: error });
      throw error;
    }
  };
}

/** The recorder needs only the identity of an object: events of a PVC are recorded like those of a Pod. */
function pvcAsSubject({ apiVersion, kind, metadata }: PersistentVolumeClaim): Pod {
  return { apiVersion, kind, metadata } as unknown as Pod;
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

function uniqueNameOf({ driverName, volumeHandle }: VolumeData): string {
  return `kubernetes.io/csi/${driverName}^${volumeHandle}`;
}

function attachmentName(source: { readonly volumeHandle: string; readonly driver: string }, nodeName: string): string {
  return `csi-${sha256(`${source.volumeHandle}${source.driver}${nodeName}`)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns a function that runs work of the same key one after the other. Keys without work take no memory. */
function createKeyedQueue(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    last.set(key, result);
    try {
      return await result;
    } finally {
      if (last.get(key) === result) last.delete(key);
    }
  };
}
