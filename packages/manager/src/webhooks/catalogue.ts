/**
 * All webhooks of kruise-manager: their paths, rules and handlers. The webhook configurations of the cluster are
 * generated from the same table (`configurations.ts`).
 */
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { sidecarSet } from '@kruise/api/kruise/sidecarset';
import { conversion, type Webhook } from '@kruise/client/webhook';
import type { Kind } from '@kruise/schema/kind';
import { advancedCronJobDefaulting, advancedCronJobValidating } from '../advancedcronjob/webhook/webhooks.ts';
import { broadcastJobDefaulting, broadcastJobValidating } from '../broadcastjob/webhook/webhooks.ts';
import { cloneSetDefaulting, cloneSetValidating } from '../cloneset/webhook/webhooks.ts';
import type { ManagerSettings } from '../configuration/settings.ts';
import { containerRecreateRequestFilling } from '../containerrecreaterequest/webhook/webhooks.ts';
import { convertObject } from '../conversion/catalogue.ts';
import { daemonSetDefaulting, daemonSetValidating } from '../daemonset/webhook/webhooks.ts';
import { definitionProtecting } from '../deletion-protection/definitions.ts';
import { namespaceProtecting } from '../deletion-protection/namespaces.ts';
import { wholeProtecting } from '../deletion-protection/services.ts';
import { workloadProtecting } from '../deletion-protection/workloads.ts';
import { ephemeralJobValidating } from '../ephemeraljob/webhook/webhooks.ts';
import { imageListPullJobDefaulting, imageListPullJobValidating } from '../imagelistpulljob/webhook/webhooks.ts';
import { imagePullJobDefaulting, imagePullJobValidating } from '../imagepulljob/webhook/webhooks.ts';
import { nodeImageDefaulting, nodeImageValidating } from '../nodeimage/webhook/webhooks.ts';
import { persistentPodStateValidating } from '../persistentpodstate/webhook/webhooks.ts';
import { podProbeMarkerValidating } from '../podprobemarker/webhook/webhooks.ts';
import { podUnavailableBudgetValidating } from '../podunavailablebudget/webhook/webhooks.ts';
import { resourceDistributionValidating } from '../resourcedistribution/webhook/webhooks.ts';
import { sidecarSetDefaulting, sidecarSetValidating } from '../sidecarset/webhook/webhooks.ts';
import { statefulSetDefaulting, statefulSetValidating } from '../statefulset/webhook/webhooks.ts';
import { unitedDeploymentDefaulting, unitedDeploymentValidating } from '../uniteddeployment/webhook/webhooks.ts';
import { workloadSpreadValidating } from '../workloadspread/webhook/webhooks.ts';
import { type WebhookContext, type WebhookDependencies, webhookContext } from './context.ts';
import { podValidating } from './pod/validating.ts';
import { podMutating } from './pod/webhooks.ts';

type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

export type WebhookEntry = {
  readonly name: string;
  readonly type: 'mutating' | 'validating';
  readonly path: string;
  readonly group: string;
  readonly versions: readonly string[];
  readonly resource: string;
  /** The operations of its rule, which may depend on feature gates. */
  readonly operations: readonly Operation[] | ((settings: ManagerSettings) => readonly Operation[]);
  /** The objects that it applies to: Pods of ordinary namespaces, or only objects that are protected from deletion. */
  readonly scope?: 'pods' | 'protected';
  /** A kind that the handler reads, and cannot work without. */
  readonly reads?: Kind;
  /** Reports whether the feature gates enable the webhook. Enabled if omitted. */
  readonly isOn?: (settings: ManagerSettings) => boolean;
  readonly make: (context: WebhookContext) => Webhook;
};

type KindOptions = {
  readonly versions?: readonly string[];
  /** Also applies to deletions. */
  readonly guardsDeletion?: boolean;
  /** A suffix of the webhook's name after the kind. */
  readonly suffix?: string;
};

/** Returns the webhooks of a kind of Kruise; only the defaulting one if there is no validation. */
function ofKind(
  kind: string,
  defaulting: WebhookEntry['make'],
  validating?: WebhookEntry['make'],
  { versions = ['v1alpha1', 'v1beta1'], guardsDeletion = false, suffix = '' }: KindOptions = {},
): readonly WebhookEntry[] {
  const facts = { group: 'apps.kruise.io', versions, resource: `${kind}s` };
  const mutating: WebhookEntry = {
    name: `m${kind}${suffix}.kb.io`,
    type: 'mutating',
    path: `/mutate-apps-kruise-io-${kind}`,
    ...facts,
    operations: ['CREATE', 'UPDATE'],
    make: defaulting,
  };
  if (!validating) return [mutating];
  return [
    mutating,
    {
      name: `v${kind}${suffix}.kb.io`,
      type: 'validating',
      path: `/validate-apps-kruise-io-${kind}`,
      ...facts,
      operations: guardsDeletion ? ['CREATE', 'UPDATE', 'DELETE'] : ['CREATE', 'UPDATE'],
      make: validating,
    },
  ];
}

/** Returns the webhook of a kind of Kruise that has no defaults. */
function onlyValidating(
  resource: string,
  make: WebhookEntry['make'],
  facts: Pick<WebhookEntry, 'name' | 'path' | 'versions'>,
): WebhookEntry {
  return { ...facts, type: 'validating', group: 'apps.kruise.io', resource, operations: ['CREATE', 'UPDATE'], make };
}

/** Returns the webhook of a built-in kind whose objects may be protected from deletion. */
function protecting(
  kind: string,
  make: WebhookEntry['make'],
  { group = '', versions = ['v1'], path = `/validate-${kind}`, suffix = kind, resource = `${kind}s` } = {},
): WebhookEntry {
  const isOn = ({ gates }: ManagerSettings) => gates.ResourcesDeletionProtection;
  const facts = { name: `v${suffix}.kb.io`, path, group, versions, resource };
  return { ...facts, type: 'validating', operations: ['DELETE'], scope: 'protected', isOn, make };
}

const builtin = (kind: string) => ({ group: 'apps', path: `/validate-apps-${kind}`, suffix: `builtin${kind}` });

/** The rule for existing Pods. */
const existingPods = {
  type: 'validating',
  path: '/validate-pod',
  group: '',
  versions: ['v1'],
  scope: 'pods',
  reads: podUnavailableBudget,
  isOn: ({ gates }: ManagerSettings) => gates.PodWebhook,
  make: podValidating,
} as const;

/** All webhooks, in the order in which they are called. */
export const webhookCatalogue: readonly WebhookEntry[] = [
  {
    name: 'mpod.kb.io',
    type: 'mutating',
    path: '/mutate-pod',
    group: '',
    versions: ['v1'],
    resource: 'pods',
    operations: ['CREATE'],
    scope: 'pods',
    reads: sidecarSet,
    isOn: ({ gates }) => gates.PodWebhook,
    make: podMutating,
  },
  {
    ...existingPods,
    name: 'vpod.kb.io',
    resource: 'pods',
    operations: ({ gates }) => (gates.PodUnavailableBudgetUpdateGate ? ['UPDATE', 'DELETE'] : ['DELETE']),
  },
  {
    ...existingPods,
    name: 'vpodeviction.kb.io',
    resource: 'pods/eviction',
    operations: ['CREATE'],
  },
  {
    ...existingPods,
    name: 'vpodresize.kb.io',
    resource: 'pods/resize',
    operations: ['UPDATE'],
    isOn: ({ gates }) => gates.PodUnavailableBudgetUpdateGate,
  },
  ...ofKind('advancedcronjob', advancedCronJobDefaulting, advancedCronJobValidating),
  ...ofKind('broadcastjob', broadcastJobDefaulting, broadcastJobValidating),
  ...ofKind('cloneset', cloneSetDefaulting, cloneSetValidating, { guardsDeletion: true }),
  ...ofKind('containerrecreaterequest', containerRecreateRequestFilling),
  ...ofKind('daemonset', daemonSetDefaulting, daemonSetValidating),
  onlyValidating('ephemeraljobs', ephemeralJobValidating, {
    name: 'vephemeraljobs.kb.io',
    path: '/validate-apps-kruise-io-v1alpha1-ephemeraljob',
    versions: ['v1alpha1'],
  }),
  ...ofKind('imagelistpulljob', imageListPullJobDefaulting, imageListPullJobValidating, { suffix: '-v1beta1' }),
  ...ofKind('imagepulljob', imagePullJobDefaulting, imagePullJobValidating, { suffix: '-v1beta1' }),
  ...ofKind('nodeimage', nodeImageDefaulting, nodeImageValidating),
  onlyValidating('persistentpodstates', persistentPodStateValidating, {
    name: 'vpersistentpodstate.kb.io',
    path: '/validate-apps-kruise-io-persistentpodstate',
    versions: ['v1alpha1', 'v1beta1'],
  }),
  onlyValidating('podprobemarkers', podProbeMarkerValidating, {
    name: 'vpodprobemarker.kb.io',
    path: '/validate-apps-kruise-io-podprobemarker',
    versions: ['v1alpha1'],
  }),
  {
    name: 'vpodunavailablebudget.kb.io',
    type: 'validating',
    path: '/validate-policy-kruise-io-podunavailablebudget',
    group: 'policy.kruise.io',
    versions: ['v1alpha1', 'v1beta1'],
    resource: 'podunavailablebudgets',
    operations: ['CREATE', 'UPDATE'],
    make: podUnavailableBudgetValidating,
  },
  onlyValidating('resourcedistributions', resourceDistributionValidating, {
    name: 'vresourcedistribution.kb.io',
    path: '/validate-apps-kruise-io-resourcedistribution',
    versions: ['v1alpha1', 'v1beta1'],
  }),
  ...ofKind('sidecarset', sidecarSetDefaulting, sidecarSetValidating),
  protecting('customresourcedefinition', definitionProtecting, { group: 'apiextensions.k8s.io' }),
  protecting('deployment', workloadProtecting, builtin('deployment')),
  protecting('ingress', wholeProtecting, { group: 'networking.k8s.io', resource: 'ingresses' }),
  protecting('namespace', namespaceProtecting),
  protecting('replicaset', workloadProtecting, builtin('replicaset')),
  protecting('service', wholeProtecting),
  protecting('statefulset', workloadProtecting, builtin('statefulset')),
  ...ofKind('statefulset', statefulSetDefaulting, statefulSetValidating, { guardsDeletion: true }),
  ...ofKind('uniteddeployment', unitedDeploymentDefaulting, unitedDeploymentValidating, { guardsDeletion: true }),
  onlyValidating('workloadspreads', workloadSpreadValidating, {
    name: 'vworkloadspread.kb.io',
    path: '/validate-apps-kruise-io-workloadspread',
    versions: ['v1alpha1', 'v1beta1'],
  }),
];

/** Returns the enabled webhooks by path, including the conversion webhook, if the kinds that they read are served. */
export function webhooksFor(
  means: WebhookDependencies,
  isServed: (kind: Kind) => boolean = () => true,
): { readonly [path: string]: Webhook } {
  const entries = webhookCatalogue.filter(
    ({ reads, isOn = () => true }) => isOn(means.settings) && (reads === undefined || isServed(reads)),
  );
  const context = webhookContext({ ...means, isServed });
  const answering = entries.map(({ path, make }) => [path, make(context)] as const);
  return {
    ...Object.fromEntries(answering.flatMap(([path, webhook]) => pathsOf(path).map((each) => [each, webhook]))),
    '/convert': conversion(convertObject),
  };
}

/** Returns the paths of a webhook. Charts up to 1.8 have a version in the path. */
function pathsOf(path: string): readonly string[] {
  return [path, path.replace(/-apps-kruise-io-(?!v1)/, '-apps-kruise-io-v1alpha1-')];
}
