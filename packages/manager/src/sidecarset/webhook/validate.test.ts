import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SidecarContainer, SidecarSet, SidecarSetSpec } from '@kruise/api/kruise/sidecarset';
import type { LabelSelector } from '@kruise/machinery/label-selector';
import { notFound } from '@kruise/machinery/status';
import { summary } from '@kruise/schema/field-error';
import { metadataFault } from './allowlist.ts';
import { overlaps } from './conflicts.validate.ts';
import { defaultSidecarSet } from './default.ts';
import { type ValidationContext, validateSidecarSet } from './validate.ts';

const side = (more: object = {}) => ({ name: 'side', image: 'side:v1', ...more }) as SidecarContainer;
const set = (spec: SidecarSetSpec = {}, metadata: Partial<SidecarSet['metadata']> = {}): SidecarSet =>
  defaultSidecarSet({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'SidecarSet',
    metadata: { name: 'set', ...metadata },
    spec: { selector: { matchLabels: { app: 'web' } }, containers: [side()], ...spec },
  });
const surroundings = (...sidecarSets: SidecarSet[]): ValidationContext => ({
  sidecarSets,
  findRevision(_, { revisionName }) {
    if (revisionName !== 'known')
      throw notFound({ group: 'apps', plural: 'ControllerRevision' }, revisionName ?? 'set');
  },
  metadataFault: () => undefined,
});
const faultsOf = (
  given: SidecarSet,
  { old, others = [] }: { old?: SidecarSet; others?: readonly SidecarSet[] } = {},
) => {
  const causes = [...validateSidecarSet(given, surroundings(...others), old)];
  return causes.length === 0 ? '' : summary(causes);
};
const base = { 'apps.kruise.io/sidecarset-canary': 'true', 'apps.kruise.io/sidecarset-base': 'base' };
const policy = (more: object = {}) => ({
  targetContainersMode: 'sum',
  targetContainersNameRegex: '.*',
  resourcesExpr: { limits: { cpu: 'cpu*50%' } },
  ...more,
});
const native = side({ name: 'native', restartPolicy: 'Always' });
const rolling = (updateStrategy: SidecarSetSpec['updateStrategy'] = {}) => set({ updateStrategy });
const source = (fieldPath: string) => side({ transferEnv: [{ sourceContainerNameFrom: { fieldRef: { fieldPath } } }] });
const bad = { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['not ok!'] }] } as LabelSelector;

const alone: { is: string; set: SidecarSet; expected: RegExp | '' }[] = [
  { is: 'with the minimal spec', set: set(), expected: '' },
  { is: 'with init containers alone', set: set({ containers: [], initContainers: [side()] }), expected: '' },
  {
    is: 'with a dotted name',
    set: set({}, { name: 'a.b' }),
    expected: /^metadata.name: .*sidecarset name must consist/,
  },
  { is: 'with a long name', set: set({}, { name: 'a'.repeat(64) }), expected: /must be no more than 63 characters$/ },
  {
    is: 'without selector',
    set: set({ selector: undefined as never }),
    expected: /^spec.selector: Required value: no selector/,
  },
  {
    is: 'with an empty selector',
    set: set({ selector: {} }),
    expected: /^spec.selector: .*: empty selector is not valid/,
  },
  {
    is: 'with a bad selector',
    set: set({ selector: bad }),
    expected: /^\[spec.selector.matchE.*, spec.selector.selector: Inv/,
  },
  {
    is: 'with an empty namespace selector',
    set: set({ namespaceSelector: {} }),
    expected: /^spec.namespaceSelector: .*empty/,
  },
  {
    is: 'without containers',
    set: set({ containers: [] }),
    expected: /^spec: Required value: no initContainer or container/,
  },
  {
    is: 'with a revision without name',
    set: set({ injectionStrategy: { revision: {} } }),
    expected: /^revision: .*simultaneously$/,
  },
  {
    is: 'with a revision that is there',
    set: set({ injectionStrategy: { revision: { revisionName: 'known' } } }),
    expected: '',
  },
  {
    is: 'with a revision that is not there',
    set: set({ injectionStrategy: { revision: { revisionName: 'other' } } }),
    expected: /^revision: Invalid value: "null": Cannot find .* err: ControllerRevision.apps "other" not found$/,
  },
  {
    is: 'with a partition and a selector',
    set: rolling({ partition: 1, selector: { matchLabels: { a: 'b' } } }),
    expected:
      /^updateStrategy: Invalid value: "&\{Type:RollingUpdate .*MatchLabels:map\[string\]string\{a: b,\}.* Partition:1 .*together$/,
  },
  { is: 'with a selector', set: rolling({ selector: { matchLabels: { a: 'b' } } }), expected: '' },
  {
    is: 'with a negative partition',
    set: rolling({ partition: -1 }),
    expected: /^spec.updateStrategy.partition: .*: -1: must be/,
  },
  {
    is: 'with a bad limit',
    set: rolling({ maxUnavailable: 'x' }),
    expected: /^spec.updateStrategy.maxUnavailable: .*percent/,
  },
  { is: 'with a limit of nothing', set: rolling({ maxUnavailable: 0 }), expected: '' },
  {
    is: 'that spreads twice',
    set: rolling({
      scatterStrategy: [
        { key: 'a', value: 'b' },
        { key: 'a', value: 'b' },
      ],
    }),
    expected: /^spec.updateStrategy.scatterStrategy: Required value: duplicated key=a value=b$/,
  },
  {
    is: 'with two orders',
    set: rolling({
      priorityStrategy: { orderPriority: [{ orderedKey: 'a' }], weightPriority: [{ weight: 1, matchSelector: {} }] },
    }),
    expected: /^spec.updateStrategy.priorityStrategy: Required value: only one of/,
  },
  { is: 'that only injects, with a bad limit', set: rolling({ type: 'NotUpdate', maxUnavailable: 'x' }), expected: '' },
  {
    is: 'with a native sidecar to be updated',
    set: set({ initContainers: [native] }),
    expected: /^spec.updateStrategy: Required/,
  },
  {
    is: 'with a native sidecar',
    set: set({ initContainers: [native], updateStrategy: { type: 'NotUpdate' } }),
    expected: '',
  },
  {
    is: 'with a bad place',
    set: set({ containers: [side({ podInjectPolicy: 'x' })] }),
    expected: /^spec.container.podInjectPolicy/,
  },
  {
    is: 'with a bad share',
    set: set({ containers: [side({ shareVolumePolicy: { type: 'x' } })] }),
    expected: /shareVolumePolicy: /,
  },
  {
    is: 'with a mount of nothing',
    set: set({ containers: [side({ volumeMounts: [{ name: 'v', mountPath: '/v' }] })] }),
    expected: /^spec.containers\[0\].volumeMounts\[0\].name: Not found: "v"$/,
  },
  {
    is: 'without image',
    set: set({ containers: [side({ image: '' })] }),
    expected: /^spec.containers\[0\].image: Required/,
  },
  {
    is: 'that copies from a labelled container',
    set: set({ containers: [source("metadata.labels['a']")] }),
    expected: '',
  },
  {
    is: 'that copies by name',
    set: set({ containers: [source('metadata.name')] }),
    expected: /^spec\[0\].transferEnv.fieldRef.fieldPath: .*field label not supported: metadata.name$/,
  },
  {
    is: 'that copies by spec',
    set: set({ containers: [source("spec.x['a']")] }),
    expected: /field path not supported: spec.x$/,
  },
  {
    is: 'that copies by a bad label',
    set: set({ containers: [source("metadata.labels['a b']")] }),
    expected: /^spec\[0\].transferEnv.fieldRef: Invalid value: "a b"/,
  },
  { is: 'with a resources policy', set: set({ containers: [side({ resourcesPolicy: policy() })] }), expected: '' },
  {
    is: 'with a resources policy and resources',
    set: set({ containers: [side({ resourcesPolicy: policy(), resources: { limits: { cpu: '1' } } })] }),
    expected: /^spec\[0\].resourcesPolicy: .*cannot be configured together$/,
  },
  {
    is: 'with a resources policy without a pattern',
    set: set({ containers: [side({ resourcesPolicy: policy({ targetContainersNameRegex: '' }) })] }),
    expected: /Regex: Required value: invalid empty regex$/,
  },
  {
    is: 'with a resources policy and a bad pattern',
    set: set({ containers: [side({ resourcesPolicy: policy({ targetContainersNameRegex: '(' }) })] }),
    expected: /: invalid regex pattern: error parsing regexp: missing closing \): `\(`$/,
  },
  {
    is: 'with a resources policy without expressions',
    set: set({ containers: [side({ resourcesPolicy: policy({ resourcesExpr: {} }) })] }),
    expected: /at least one of limits or requests must be configured$/,
  },
  {
    is: 'with a resources policy of one resource for the other',
    set: set({ containers: [side({ resourcesPolicy: policy({ resourcesExpr: { requests: { cpu: 'memory' } } }) })] }),
    expected:
      /^spec\[0\].resourcesPolicy.resourcesExpr.requests.cpu: .*: invalid expression: undefined variable: memory$/,
  },
  {
    is: 'with a resources policy for an init container',
    set: set({ initContainers: [side({ name: 'i', resourcesPolicy: policy() })] }),
    expected: /resourcesPolicy is only supported for containers with RestartPolicy Always$/,
  },
  {
    is: 'that patches one annotation twice',
    set: set({ patchPodMetadata: [{ annotations: { a: '1' } }, { annotations: { a: '2' } }] }),
    expected: /^spec.patchPodMetadata: Required value: patch annotation\[a\] already exist$/,
  },
  {
    is: 'that patches nothing',
    set: set({ patchPodMetadata: [{}] }),
    expected: /no annotations defined for SidecarSet$/,
  },
  {
    is: 'that patches an invalid annotation',
    set: set({ patchPodMetadata: [{ annotations: { 'a b': '1' } }] }),
    expected: /^patchPodMetadata.annotations: Invalid value: "a b"/,
  },
  {
    is: 'without a base',
    set: set({ updateStrategy: { type: 'NotUpdate' } }, { annotations: base }),
    expected: /^metadata: .*failed: SidecarSet.apps.kruise.io "base" not found$/,
  },
];
for (const { is, set: given, expected } of alone) {
  test(`a SidecarSet ${is} is ${expected === '' ? 'accepted' : `refused: ${expected.source}`}`, () => {
    if (expected === '') assert.equal(faultsOf(given), '');
    else assert.match(faultsOf(given), expected);
  });
}

const trial = (metadata: Partial<SidecarSet['metadata']> = {}, type: 'NotUpdate' | 'RollingUpdate' = 'NotUpdate') =>
  set({ updateStrategy: { type } }, { annotations: base, ...metadata });
const trials: {
  is: string;
  set: SidecarSet;
  old?: SidecarSet;
  others: readonly SidecarSet[];
  expected: RegExp | '';
}[] = [
  { is: 'fine where its base is', set: trial(), others: [set({}, { name: 'base' })], expected: '' },
  {
    is: 'none of itself',
    set: trial({ name: 'base' }),
    others: [trial({ name: 'base' })],
    expected: /cannot be itself/,
  },
  {
    is: 'none of another trial',
    set: trial(),
    others: [trial({ name: 'base' })],
    expected: /base sidecarSet cannot be canary$/,
  },
  {
    is: 'never updated',
    set: trial({}, 'RollingUpdate'),
    others: [set({}, { name: 'base' })],
    expected: /not supported for canary/,
  },
  {
    is: 'of one base for good',
    set: trial(),
    old: set(),
    others: [set({}, { name: 'base' })],
    expected: /is immutable$/,
  },
];
for (const { is, set: given, old, others, expected } of trials) {
  test(`a canary is ${is}`, () => {
    const found = faultsOf(given, { ...(old ? { old } : {}), others });
    if (expected === '') assert.equal(found, '');
    else assert.match(found, expected);
  });
}

const hot = side({ upgradeStrategy: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'e' } });
const updates: { name: string; to: SidecarSet; expected: RegExp | '' }[] = [
  { name: 'another image is fine', to: set({ containers: [side({ image: 'side:v2' })] }), expected: '' },
  {
    name: 'another name is refused',
    to: set({ containers: [side({ name: 'x' })] }),
    expected: /^spec.containers.name: .*"x": container x is not found$/,
  },
  {
    name: 'a sidecar cannot become a hot-upgrade pair',
    to: set({ containers: [hot] }),
    expected: /container side upgradeType is immutable$/,
  },
  { name: 'other init containers are fine', to: set({ initContainers: [side({ name: 'i' })] }), expected: '' },
];
for (const { name, to, expected } of updates) {
  test(`on update ${name}`, () => {
    if (expected === '') assert.equal(faultsOf(to, { old: set() }), '');
    else assert.match(faultsOf(to, { old: set() }), expected);
  });
}

const volume = (more: object) => ({ volumes: [{ name: 'v', ...more }] });
const patching = (patchPolicy: 'Retain' | 'Overwrite' | 'MergePatchJson') => ({
  patchPodMetadata: [{ annotations: { a: '{}' }, patchPolicy }],
});
const other = (spec: SidecarSetSpec = {}) => set({ containers: [side({ name: 'other' })], ...spec }, { name: 'other' });
const conflicts: { name: string; one: SidecarSet; two: SidecarSet; expected: string }[] = [
  { name: 'different containers', one: set(), two: other(), expected: '' },
  {
    name: 'the same container',
    one: set(),
    two: other({ containers: [side()] }),
    expected: 'spec.containers: Invalid value: "side": container side already exist in other',
  },
  {
    name: 'a container and an init container of one name',
    one: set(),
    two: other({ initContainers: [side()] }),
    expected: '',
  },
  {
    name: 'the same container for other Pods',
    one: set(),
    two: other({ containers: [side()], selector: { matchLabels: { app: 'x' } } }),
    expected: '',
  },
  {
    name: 'the same container in other namespaces',
    one: set({ namespaceSelector: { matchLabels: { a: '1' } } }),
    two: other({ containers: [side()], namespaceSelector: { matchLabels: { a: '2' } } }),
    expected: '',
  },
  { name: 'the same volume', one: set(volume({ emptyDir: {} })), two: other(volume({ emptyDir: {} })), expected: '' },
  {
    name: 'another volume of one name',
    one: set(volume({ emptyDir: {} })),
    two: other(volume({ hostPath: { path: '/v' } })),
    expected: 'spec.volumes: Invalid value: "v": volume v is in conflict with sidecarset other',
  },
  {
    name: 'an annotation both insist on',
    one: set(patching('MergePatchJson')),
    two: other(patching('Overwrite')),
    expected: 'spec.patchPodMetadata: Invalid value: "a": annotation a is in conflict with sidecarset other',
  },
  {
    name: 'an annotation both merge',
    one: set(patching('MergePatchJson')),
    two: other(patching('MergePatchJson')),
    expected: '',
  },
  {
    name: 'an annotation one would leave',
    one: set(patching('Retain')),
    two: other(patching('Overwrite')),
    expected: '',
  },
];
for (const { name, one, two, expected } of conflicts) {
  test(`two SidecarSets may ${expected === '' ? '' : 'not '}have ${name}`, () => {
    assert.equal(faultsOf(one, { others: [one, two] }), expected);
  });
}

const expression = (key: string, operator: string, ...values: string[]) =>
  ({ matchExpressions: [{ key, operator, values }] }) as LabelSelector;
const pairs: { a: LabelSelector; b: LabelSelector; overlap: boolean }[] = [
  { a: { matchLabels: { a: 'h' } }, b: { matchLabels: { a: 'h' } }, overlap: true },
  { a: { matchLabels: { a: 'h' } }, b: { matchLabels: { a: 'i' } }, overlap: false },
  { a: { matchLabels: { a: 'h' } }, b: { matchLabels: { b: 'i' } }, overlap: true },
  { a: { matchLabels: { a: 'h' } }, b: expression('a', 'Exists'), overlap: true },
  { a: { matchLabels: { b: 'i' } }, b: expression('a', 'Exists'), overlap: false },
  { a: { matchLabels: { a: 'h' } }, b: expression('a', 'DoesNotExist'), overlap: false },
  { a: { matchLabels: { a: 'h' } }, b: expression('a', 'In', 'h', 'i'), overlap: true },
  { a: expression('a', 'In', 'h', 'i'), b: expression('a', 'In', 'j'), overlap: false },
  { a: expression('a', 'In', 'h', 'i'), b: expression('a', 'NotIn', 'h'), overlap: true },
  { a: expression('a', 'In', 'h', 'i'), b: expression('a', 'NotIn', 'h', 'i'), overlap: false },
];
for (const { a, b, overlap } of pairs) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} ${overlap ? 'overlap' : 'do not overlap'}`, () => {
    assert.equal(overlaps(a, b), overlap);
    assert.equal(overlaps(b, a), overlap);
  });
}

const listed = (rules: readonly object[]) => JSON.stringify({ rules });
const patched = set({ patchPodMetadata: [{ annotations: { key1: 'x' } }] }, { labels: { team: 'a' } });
const lists: { is: string; text?: string; allowsByDefault?: boolean; expected: string | undefined }[] = [
  { is: 'absent', expected: 'SidecarSet patch metadata whitelist not found' },
  { is: 'absent, which is allowed', allowsByDefault: true, expected: undefined },
  { is: 'empty', text: listed([]), expected: 'sidecarSet patch metadata annotation is not allowed' },
  { is: 'empty, which is allowed', text: listed([]), allowsByDefault: true, expected: undefined },
  { is: 'for such keys', text: listed([{ allowedAnnotationKeyExprs: ['key.*'] }]), expected: undefined },
  { is: 'for a part of such keys', text: listed([{ allowedAnnotationKeyExprs: ['y1'] }]), expected: undefined },
  {
    is: 'for other keys',
    text: listed([{ allowedAnnotationKeyExprs: ['^other'] }]),
    allowsByDefault: true,
    expected: 'sidecarSet patch metadata annotation(key1) is not allowed',
  },
  {
    is: 'for these labels',
    text: listed([{ selector: { matchLabels: { team: 'a' } }, allowedAnnotationKeyExprs: ['key'] }]),
    expected: undefined,
  },
  {
    is: 'for other labels',
    text: listed([{ selector: { matchLabels: { team: 'b' } }, allowedAnnotationKeyExprs: ['key'] }]),
    expected: 'sidecarSet patch metadata annotation is not allowed',
  },
  {
    is: 'with a bad pattern',
    text: listed([{ allowedAnnotationKeyExprs: ['('] }]),
    expected: 'error parsing regexp: missing closing ): `(`',
  },
];
for (const { is, text, allowsByDefault = false, expected } of lists) {
  test(`an allowlist that is ${is}: ${expected ?? 'accepted'}`, () => {
    assert.equal(metadataFault(patched, text, { allowsByDefault }), expected);
    assert.equal(metadataFault(set(), text, { allowsByDefault }), undefined);
  });
}

test('an allowlist that is not JSON is ignored', () => {
  assert.match(metadataFault(patched, '{', { allowsByDefault: true }) ?? '', /JSON/);
});
