import { type Kind, resourceOf } from '@kruise/schema/kind';
import { apiextensionsRules } from './apiextensions.ts';
import { apiRegistrationRules } from './apiregistration.ts';
import { appsRules } from './apps.ts';
import { batchRules } from './batch.ts';
import { coreRules } from './core.ts';
import { eventsRules } from './events.ts';
import { flowControlRules } from './flowcontrol.ts';
import { rbacRules } from './rbac.ts';
import type { Rules, RulesByResource } from './rules.ts';

/** What is particular about each kind, by its resource. */
const rules: RulesByResource = {
  ...apiextensionsRules,
  ...coreRules,
  ...appsRules,
  ...batchRules,
  ...eventsRules,
  ...rbacRules,
  ...flowControlRules,
  ...apiRegistrationRules,
  'leases.coordination.k8s.io': { createOnUpdate: true, unconditionalUpdate: false },
  'runtimeclasses.node.k8s.io': { createOnUpdate: true, unconditionalUpdate: false },
  'horizontalpodautoscalers.autoscaling': { generation: 'none' },
  'poddisruptionbudgets.policy': { unconditionalUpdate: false },
  'ingressclasses.networking.k8s.io': { generation: 'spec' },
  'networkpolicies.networking.k8s.io': { generation: 'spec' },
  'certificatesigningrequests.certificates.k8s.io': { generation: 'none' },
  'servicecidrs.networking.k8s.io': { generation: 'none' },
  'priorityclasses.scheduling.k8s.io': { generation: () => false },
  'storageclasses.storage.k8s.io': { returnsDeleted: true },
  'csidrivers.storage.k8s.io': { unconditionalUpdate: false, returnsDeleted: true, generation: 'spec' },
  'csinodes.storage.k8s.io': { unconditionalUpdate: false, returnsDeleted: true },
  'volumeattachments.storage.k8s.io': { unconditionalUpdate: false, returnsDeleted: true, generation: 'none' },
  'csistoragecapacities.storage.k8s.io': { unconditionalUpdate: false },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': { unconditionalUpdate: false, generation: 'spec' },
  'validatingwebhookconfigurations.admissionregistration.k8s.io': { unconditionalUpdate: false, generation: 'spec' },
  'validatingadmissionpolicies.admissionregistration.k8s.io': { unconditionalUpdate: false },
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': { unconditionalUpdate: false, generation: 'spec' },
};

const usual: Rules = {};

export function rulesOf(kind: Kind): Rules {
  return rules[resourceOf(kind)] ?? usual;
}
