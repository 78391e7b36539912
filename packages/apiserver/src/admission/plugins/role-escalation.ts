import type { ClusterRole } from '@kruise/api/rbac/clusterrole';
import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { RoleRef } from '@kruise/api/rbac/subject';
import { isSame } from '@kruise/machinery/json-value';
import { notFound } from '@kruise/machinery/status';
import type { Authorizer, Attributes as Wanted } from '../../authorization/authorizer.ts';
import type { Rbac } from '../../authorization/rbac.ts';
import { printedParts, quoted, uncovered } from '../../authorization/rule.ts';
import type { KubeObject } from '../../object.ts';
import { type AdmissionPlugin, type Attributes, forbiddenWrite } from '../admission.ts';

const group = 'rbac.authorization.k8s.io';
const bindings: ReadonlySet<string> = new Set(['rolebindings', 'clusterrolebindings']);
/** Rules that grant every permission. */
const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

type Role = KubeObject & Pick<ClusterRole, 'rules' | 'aggregationRule'>;
type Binding = KubeObject & { readonly roleRef?: RoleRef | null };

/**
 * RBAC escalation check: users may only write a role whose permissions they hold, or that they may `escalate`; and only
 * bind a role whose permissions they hold, or that they may `bind`.
 */
export function roleEscalation(rbac: Rbac, authorizer: Authorizer): AdmissionPlugin {
  async function isAllowed(
    attributes: Attributes,
    verb: 'escalate' | 'bind',
    plural: string,
    name: string,
  ): Promise<boolean> {
    const { context, resource, namespace } = attributes;
    const wanted: Wanted = {
      user: context.user,
      verb,
      resource: true,
      group,
      version: '*',
      plural,
      subresource: '',
      namespace: resource.kind.scope === 'Namespaced' ? namespace : '',
      name,
    };
    return (await authorizer.authorize(wanted)).verdict === 'allow';
  }

  /** Refuses the write unless the user already holds every wanted rule. */
  function confirmNoEscalation(attributes: Attributes, wanted: readonly PolicyRule[]): void {
    const { user } = attributes.context;
    const { held, missing } = rulesOfUser(attributes);
    const lacking = uncovered(wanted, held);
    if (lacking.length === 0) return;
    const errors = missing.length > 0 ? `; resolution errors: [${missing.join(' ')}]` : '';
    throw forbiddenWrite(
      attributes,
      `user ${JSON.stringify(user.username)} (groups=${quoted(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${printedParts(lacking).join('\n')}${errors}`,
    );
  }

  function rulesOfUser({ context, resource, namespace }: Attributes) {
    const { grants, missing } = rbac.grantsOf(context.user, resource.kind.scope === 'Namespaced' ? namespace : '');
    return { held: Array.from(grants, ({ rule }) => rule), missing };
  }

  async function checkRole(attributes: Attributes): Promise<void> {
    const { object, oldObject, resource, context } = attributes;
    if (await isAllowed(attributes, 'escalate', resource.kind.plural, context.info.name)) return;
    confirmNoEscalation(attributes, (object as Role).rules ?? []);
    // An aggregated role collects the rules of any role with a matching label, and removing the aggregation rule keeps
    // the collected rules, so both need every permission.
    if (!isAggregated(object) && !isAggregated(oldObject)) return;
    if (uncovered(fullAuthority, rulesOfUser(attributes).held).length === 0) return;
    throw forbiddenWrite(attributes, 'must have cluster-admin privileges to use the aggregationRule');
  }

  async function checkBinding(attributes: Attributes): Promise<void> {
    const { roleRef } = attributes.object as Binding;
    // Validation refuses a binding without a role.
    if (!roleRef) return;
    const plural = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    if (await isAllowed(attributes, 'bind', plural, roleRef.name)) return;
    const rules = rbac.rulesOf(roleRef, attributes.namespace);
    if (!rules) throw notFound(attributes.resource.kind, roleRef.name);
    confirmNoEscalation(attributes, rules);
  }

  return {
    name: 'RoleEscalation',
    handles: ({ resource, operation, subresource }) =>
      resource.kind.group === group && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    async mutate(attributes) {
      const { user } = attributes.context;
      if (user.groups.includes('system:masters') || isOnlyCollected(attributes)) return;
      // The kind decides, not the fields of the object: the user sets the fields.
      if (bindings.has(attributes.resource.kind.plural)) await checkBinding(attributes);
      else await checkRole(attributes);
    },
  };
}

function isAggregated(object: KubeObject | undefined): boolean {
  return Boolean((object as Role | undefined)?.aggregationRule?.clusterRoleSelectors?.length);
}

/** Reports whether an update changes only metadata that the garbage collector must be able to change. */
function isOnlyCollected({ object, oldObject }: Attributes): boolean {
  if (!object || !oldObject) return false;
  const core = ({ metadata, ...rest }: KubeObject) => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, resourceVersion: ____, ...kept } = metadata;
    return { ...rest, metadata: kept };
  };
  return isSame(core(object), core(oldObject));
}
