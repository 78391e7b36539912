import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { Pod } from '@kruise/api/core/pod';
import type { VolumeAttachment } from '@kruise/api/storage/volumeattachment';
import { flattenSteps } from '@kruise/client/actions';
import { type Instant, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { executeActions } from '../../testing/execute-actions.ts';
import { decide, type Observed, type WantedVolume } from './decide.ts';

const now = instantOf(2026, 1, 1);
const unique = 'kubernetes.io/csi/disks.example.com^h1';
/** sha256 of h1, disks.example.com and node-1. */
const name = 'csi-ba67b5af3aef857c138e2fea32e4429dbfb6ccfbdbc625fd31f418ad5d8e4fa6';

const volume: PersistentVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'disks.example.com', volumeHandle: 'h1' } },
};
const shared: PersistentVolume = { ...volume, spec: { ...volume.spec, accessModes: ['ReadWriteMany'] } };
const pod = (podName: string, namespace = 'default'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: podName, namespace },
});
const node = (status: Node['status'] = {}, more: Partial<Node> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } },
  status,
  ...more,
});
const attachment = (status?: VolumeAttachment['status'], metadata = {}): VolumeAttachment => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name, ...metadata },
  spec: { attacher: 'disks.example.com', nodeName: 'node-1', source: { persistentVolumeName: 'disk' } },
  ...(status ? { status } : {}),
});
const wanted = (more: Partial<WantedVolume> = {}): WantedVolume => ({
  volume,
  pods: [pod('web')],
  elsewhere: [],
  podsElsewhere: [],
  ...more,
});
const world = (more: Partial<Observed> = {}): Observed => ({
  nodeName: 'node-1',
  node: node(),
  wanted: [],
  attachments: [],
  volumeOf: () => volume,
  idleSince: new Map(),
  ...more,
});
const reported = { volumesAttached: [{ name: unique, devicePath: '' }] };
const silent = { ...reported, volumesInUse: [unique], conditions: [{ type: 'Ready', status: 'Unknown' }] } as const;
const idleFor = (minutes: number) => new Map<string, Instant>([[name, now - minutes * 60_000]]);
const attached = [attachment({ attached: true })];

const cases: readonly (readonly [name: string, observed: Observed, comes: string])[] = [
  ['a volume that a Pod needs is attached', world({ wanted: [wanted()] }), 'attach'],
  [
    'a node with kubelet-managed attachments is ignored',
    world({ wanted: [wanted()], node: node({}, { metadata: { name: 'node-1' } }) }),
    '',
  ],
  ['a pending attachment is awaited', world({ wanted: [wanted()], attachments: [attachment()] }), ''],
  [
    'an attached volume is reported, and the Pods get an event',
    world({ wanted: [wanted()], attachments: attached }),
    'report 1; web: SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "disk" ',
  ],
  ['a reported volume is unchanged', world({ wanted: [wanted()], attachments: attached, node: node(reported) }), ''],
  [
    'a driver error is reported',
    world({
      wanted: [wanted()],
      attachments: [attachment({ attached: false, attachError: { message: 'no such disk' } })],
    }),
    'web: FailedAttachVolume AttachVolume.Attach failed for volume "disk" : no such disk',
  ],
  [
    'a volume that is attached to another node is awaited',
    world({ wanted: [wanted({ elsewhere: ['node-2'] })] }),
    'web: FailedAttachVolume Multi-Attach error for volume "disk" Volume is already exclusively attached to one node and can\'t be attached to another',
  ],
  [
    'the Pods that use the volume there are named',
    world({ wanted: [wanted({ elsewhere: ['node-2'], podsElsewhere: [pod('a'), pod('b'), pod('c', 'other')] })] }),
    'web: FailedAttachVolume Multi-Attach error for volume "disk" Volume is already used by pod(s) a, b and 1 pod(s) in different namespaces',
  ],
  [
    'Pods of other namespaces are only counted',
    world({ wanted: [wanted({ elsewhere: ['node-2'], podsElsewhere: [pod('c', 'other')] })] }),
    'web: FailedAttachVolume Multi-Attach error for volume "disk" Volume is already used by 1 pod(s) in different namespaces',
  ],
  [
    'a multi-attach volume is attached to several nodes',
    world({ wanted: [wanted({ volume: shared, elsewhere: ['node-2'] })] }),
    'attach',
  ],
  [
    'an unneeded volume is removed from the status before it is detached',
    world({ attachments: attached, node: node(reported) }),
    'report 0; detach',
  ],
  [
    'a volume that the node still uses is kept',
    world({
      attachments: attached,
      node: node({ ...reported, volumesInUse: [unique], conditions: [{ type: 'Ready', status: 'True' }] }),
      idleSince: idleFor(60),
    }),
    '',
  ],
  [
    'an unhealthy node has a detach timeout of six minutes',
    world({ attachments: attached, node: node(silent), idleSince: idleFor(6) }),
    'look again in 1',
  ],
  ['and no more', world({ attachments: attached, node: node(silent), idleSince: idleFor(7) }), 'report 0; detach'],
  [
    'an out-of-service node has no detach timeout',
    world({
      attachments: attached,
      node: node(silent, { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } }),
    }),
    'report 0; detach',
  ],
  [
    'a deleted node has a detach timeout of six minutes, too',
    world({ attachments: attached, node: undefined, idleSince: idleFor(7) }),
    'detach',
  ],
  [
    'a pending detach is awaited',
    world({ attachments: [attachment({ attached: true }, { deletionTimestamp: '2026-01-01T00:00:00Z' })] }),
    '',
  ],
  [
    'foreign attachments are ignored',
    world({ attachments: [attachment({ attached: true }, { name: 'somebody-elses' })] }),
    '',
  ],
];
for (const [what, observed, comes] of cases) {
  test(what, () => assert.equal(inShort(observed), comes));
}

function inShort(observed: Observed): string {
  const { actions, events = [], requeueAfterSeconds } = decide(observed, now);
  const words = flattenSteps(actions).map((action) => {
    if (action.type === 'create') return 'attach';
    if (action.type === 'remove') return 'detach';
    return action.type === 'patch' ? `report ${(action.patch as Node).status?.volumesAttached?.length}` : action.type;
  });
  const news = events.map(({ about, reason, message }) => `${about.metadata.name}: ${reason} ${message}`);
  const again = requeueAfterSeconds === undefined ? [] : [`look again in ${requeueAfterSeconds}`];
  return [...words, ...news, ...again].join('; ');
}

test('an attachment names the driver, the node and the volume', () => {
  const [action] = decide(world({ wanted: [wanted()] }), now).actions;
  assert.deepEqual(action?.type === 'create' && action.object, attachment());
});

test('a volume is attached only where it is needed and allowed, and never detached while it is in use', () => {
  const worlds = fc.record({
    isWanted: fc.boolean(),
    isShared: fc.boolean(),
    isElsewhere: fc.boolean(),
    isInUse: fc.boolean(),
    present: fc.constantFrom([], [attachment()], attached),
  });
  fc.assert(
    fc.property(worlds, ({ isWanted, isShared, isElsewhere, isInUse, present }) => {
      const found = isShared ? shared : volume;
      const needs = [wanted({ volume: found, elsewhere: isElsewhere ? ['node-2'] : [] })];
      const ready = { conditions: [{ type: 'Ready', status: 'True' }] } as const;
      let observed = world({
        wanted: isWanted ? needs : [],
        attachments: present,
        node: node({ ...ready, ...(isInUse ? { volumesInUse: [unique] } : {}) }),
        volumeOf: () => found,
      });
      for (let pass = 0; ; pass++) {
        assert.ok(pass < 5, 'the reconciles terminate');
        // The driver attaches what is requested.
        const there = observed.attachments.map((each) => ({ ...each, status: { attached: true } }));
        observed = { ...observed, attachments: there };
        const actions = flattenSteps(decide(observed, now).actions);
        if (actions.length === 0) break;
        const isOf = (kind: string) => (action: (typeof actions)[number]) =>
          'object' in action && action.object.kind === kind;
        const [after] = executeActions([observed.node!], actions.filter(isOf('Node')));
        const attachments = executeActions(observed.attachments, actions.filter(isOf('VolumeAttachment')));
        observed = { ...observed, node: after, attachments };
      }
      const isThere = observed.attachments.length > 0;
      if (isWanted) assert.equal(isThere, present.length > 0 || !isElsewhere || isShared);
      else assert.equal(isThere, present.length > 0 && isInUse);
      assert.equal(observed.node?.status?.volumesAttached?.length ?? 0, isThere ? 1 : 0);
    }),
  );
});
