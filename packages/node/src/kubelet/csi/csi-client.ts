/** Client of the node service of one CSI driver. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { createChannel } from '@kruise/client/grpc/channel';
import { methodOf } from '@kruise/client/grpc/method';
import type { Clock } from '@kruise/values/clock';
import {
  Node as NodeCalls,
  type NodeExpandVolumeRequestSchema,
  type NodeGetInfoResponse,
  type NodePublishVolumeRequestSchema,
  type NodeStageVolumeRequestSchema,
  NodeServiceCapability_RPC_Type as Rpc,
  VolumeUsage_Unit as Unit,
} from './generated/csi_pb.ts';

/** Optional abilities of a driver on a node. */
export type CsiCapability = 'stage' | 'stats' | 'expand' | 'singleNodeMultiWriter' | 'volumeMountGroup';

/** Usage of a volume, as its driver reports it. */
export type VolumeStats = {
  readonly capacityBytes?: number;
  readonly availableBytes?: number;
  readonly usedBytes?: number;
  readonly inodes?: number;
  readonly inodesFree?: number;
  readonly inodesUsed?: number;
};

/** Calls of a driver. All of them are idempotent. */
export type CsiClient = {
  info(): Promise<NodeGetInfoResponse>;
  capabilities(): Promise<ReadonlySet<CsiCapability>>;
  stage(request: MessageInitShape<typeof NodeStageVolumeRequestSchema>): Promise<void>;
  unstage(volumeId: string, stagingTargetPath: string): Promise<void>;
  publish(request: MessageInitShape<typeof NodePublishVolumeRequestSchema>): Promise<void>;
  unpublish(volumeId: string, targetPath: string): Promise<void>;
  /** Grows the file system of a volume; returns its size afterwards. */
  expand(request: MessageInitShape<typeof NodeExpandVolumeRequestSchema>): Promise<number>;
  stats(volumeId: string, volumePath: string, stagingTargetPath: string): Promise<VolumeStats>;
  close(): void;
};

const capabilityNames: { readonly [type: number]: CsiCapability } = {
  [Rpc.STAGE_UNSTAGE_VOLUME]: 'stage',
  [Rpc.GET_VOLUME_STATS]: 'stats',
  [Rpc.EXPAND_VOLUME]: 'expand',
  [Rpc.SINGLE_NODE_MULTI_WRITER]: 'singleNodeMultiWriter',
  [Rpc.VOLUME_MOUNT_GROUP]: 'volumeMountGroup',
};

/** Mounts may take as long as a file system check. */
const timeoutMs = 2 * 60_000;

/** Creates the client of the driver that serves a socket; it connects on the first call. */
export function createCsiClient(clock: Clock, socketPath: string): CsiClient {
  const channel = createChannel({ clock, targets: [{ socketPath }], connectTimeoutMs: 5000, maxBackoffMs: 3000 });
  const { method } = NodeCalls;
  const options = { timeoutMs };
  let known: ReadonlySet<CsiCapability> | undefined;
  return {
    info: () => channel.unary(methodOf(method.nodeGetInfo), {}, options),
    async capabilities() {
      if (known) return known;
      const { capabilities } = await channel.unary(methodOf(method.nodeGetCapabilities), {}, options);
      const names = capabilities.flatMap(({ type }) =>
        type.case === 'rpc' ? (capabilityNames[type.value.type] ?? []) : [],
      );
      known = new Set(names);
      return known;
    },
    async stage(request) {
      await channel.unary(methodOf(method.nodeStageVolume), request, options);
    },
    async unstage(volumeId, stagingTargetPath) {
      await channel.unary(methodOf(method.nodeUnstageVolume), { volumeId, stagingTargetPath }, options);
    },
    async publish(request) {
      await channel.unary(methodOf(method.nodePublishVolume), request, options);
    },
    async unpublish(volumeId, targetPath) {
      await channel.unary(methodOf(method.nodeUnpublishVolume), { volumeId, targetPath }, options);
    },
    async expand(request) {
      const { capacityBytes } = await channel.unary(methodOf(method.nodeExpandVolume), request, options);
      return Number(capacityBytes);
    },
    async stats(volumeId, volumePath, stagingTargetPath) {
      const request = { volumeId, volumePath, stagingTargetPath };
      const { usage } = await channel.unary(methodOf(method.nodeGetVolumeStats), request, options);
      const bytes = usage.find(({ unit }) => unit === Unit.BYTES);
      const inodes = usage.find(({ unit }) => unit === Unit.INODES);
      return {
        ...(bytes && {
          capacityBytes: Number(bytes.total),
          availableBytes: Number(bytes.available),
          usedBytes: Number(bytes.used),
        }),
        ...(inodes && {
          inodes: Number(inodes.total),
          inodesFree: Number(inodes.available),
          inodesUsed: Number(inodes.used),
        }),
      };
    },
    close: channel.close,
  };
}
