/**
 * Every webhook of kruise-manager: where it answers, what it is asked about, and what answers. The configurations of
 * the cluster are made from the same table (`configurations.ts`).
 */
import { conversion, type Webhook } from '@kruise/client/webhook';
import { convertObject } from '../conversion/catalogue.ts';
import type { ManagerSettings } from '../settings.ts';
import { cloneSetDefaulting, cloneSetValidating } from './cloneset/webhooks.ts';
import type { WebhookContext } from './context.ts';
import { daemonSetDefaulting, daemonSetValidating } from './daemonset/webhooks.ts';
import { podMutating } from './pod/webhooks.ts';
import { statefulSetDefaulting, statefulSetValidating } from './statefulset/webhooks.ts';

type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

export type WebhookEntry = {
  readonly name: string;
  readonly type: 'mutating' | 'validating';
  readonly path: string;
  readonly group: string;
  readonly versions: readonly string[];
  readonly resource: string;
  readonly operations: readonly Operation[];
  /** Which objects it is asked about: Pods of ordinary namespaces, or only what is protected from deletion. */
  readonly concerns?: 'pods' | 'protected';
  /** Whether the gates let it answer; they do where nothing is said. */
  readonly isOn?: (settings: ManagerSettings) => boolean;
  readonly make: (context: WebhookContext) => Webhook;
};

const both = ['v1alpha1', 'v1beta1'];

/** In the order in which they are asked. */
export const webhookCatalogue: readonly WebhookEntry[] = [
  {
    name: 'mpod.kb.io',
    type: 'mutating',
    path: '/mutate-pod',
    group: '',
    versions: ['v1'],
    resource: 'pods',
    operations: ['CREATE'],
    concerns: 'pods',
    isOn: ({ gates }) => gates.PodWebhook,
    make: podMutating,
  },
  {
    name: 'mcloneset.kb.io',
    type: 'mutating',
    path: '/mutate-apps-kruise-io-cloneset',
    group: 'apps.kruise.io',
    versions: both,
    resource: 'clonesets',
    operations: ['CREATE', 'UPDATE'],
    make: cloneSetDefaulting,
  },
  {
    name: 'vcloneset.kb.io',
    type: 'validating',
    path: '/validate-apps-kruise-io-cloneset',
    group: 'apps.kruise.io',
    versions: both,
    resource: 'clonesets',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    make: cloneSetValidating,
  },
  {
    name: 'mdaemonset.kb.io',
    type: 'mutating',
    path: '/mutate-apps-kruise-io-daemonset',
    group: 'apps.kruise.io',
    versions: both,
    resource: 'daemonsets',
    operations: ['CREATE', 'UPDATE'],
    make: daemonSetDefaulting,
  },
  {
    name: 'vdaemonset.kb.io',
    type: 'validating',
    path: '/validate-apps-kruise-io-daemonset',
    group: 'apps.kruise.io',
    versions: both,
    resource: 'daemonsets',
    operations: ['CREATE', 'UPDATE'],
    make: daemonSetValidating,
  },
  {
    name: 'mstatefulset.kb.io',
    type: 'mutating',
    path: '/mutate-apps-kruise-io-statefulset',
    group: 'apps.kruise.io',
    versions: both,
    resource: 'statefulsets',
    operations: ['CREATE', 'UPDATE'],
    make: statefulSetDefaulting,
  },
  {
    name: 'vstatefulset.kb.io',
    type: 'validating',
    path: '/validate-apps-kruise-io-statefulset',
    group: 'apps.kruise.io',
    versions: both,
    resource: 'statefulsets',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    make: statefulSetValidating,
  },
];

/** The webhooks that answer with these settings, by path; the one that converts objects among them. */
export function webhooksFor(context: WebhookContext): { readonly [path: string]: Webhook } {
  const entries = webhookCatalogue.filter(({ isOn = () => true }) => isOn(context.settings));
  const answering = entries.map(({ path, make }) => [path, make(context)] as const);
  return {
    ...Object.fromEntries(answering.flatMap(([path, webhook]) => pathsOf(path).map((each) => [each, webhook]))),
    '/convert': conversion(convertObject),
  };
}

/** Charts up to 1.8 have a version in the path. */
function pathsOf(path: string): readonly string[] {
  return [path, path.replace(/-apps-kruise-io-(?!v1)/, '-apps-kruise-io-v1alpha1-')];
}
