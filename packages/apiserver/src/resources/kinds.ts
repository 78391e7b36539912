import { type Kind, resourceOf } from '@kruise/schema/kind';
import { admissionRegistrationRules } from './admissionregistration.ts';
import { apiextensionsRules } from './apiextensions.ts';
import { apiRegistrationRules } from './apiregistration.ts';
import { appsRules } from './apps.ts';
import { autoscalingRules } from './autoscaling.ts';
import { batchRules } from './batch.ts';
import { certificateRules } from './certificates.ts';
import { clusterRules } from './cluster.ts';
import { coreRules } from './core.ts';
import { eventsRules } from './events.ts';
import { flowControlRules } from './flowcontrol.ts';
import { networkingRules } from './networking.ts';
import { rbacRules } from './rbac.ts';
import type { Rules, RulesByResource } from './rules.ts';
import { storageRules } from './storage.ts';

/** Rules of each kind, by resource. */
const rules: RulesByResource = {
  ...apiextensionsRules,
  ...coreRules,
  ...appsRules,
  ...batchRules,
  ...eventsRules,
  ...certificateRules,
  ...rbacRules,
  ...flowControlRules,
  ...apiRegistrationRules,
  ...networkingRules,
  ...storageRules,
  ...autoscalingRules,
  ...admissionRegistrationRules,
  ...clusterRules,
};

const defaultRules: Rules = {};

/** Returns the rules of a kind; rules of a specific version take precedence. */
export function rulesOf(kind: Kind): Rules {
  const resource = resourceOf(kind);
  return rules[`${resource}/${kind.version}`] ?? rules[resource] ?? defaultRules;
}
