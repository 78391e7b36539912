import type { PolicyRule } from '@kruise/api/rbac/rule';
import type { RoleRef } from '@kruise/api/rbac/subject';
import { isSame } from '@kruise/machinery/json-value';
import { notFound } from '@kruise/machinery/status';
import type { Authorizer, Attributes as Wanted } from '../../authorization/authorizer.ts';
import type { Rbac } from '../../authorization/rbac.ts';
import { printedParts, quoted, uncovered } from '../../authorization/rule.ts';
import type { KubeObject } from '../../object.ts';
import { type AdmissionPlugin, type Attributes, refuse } from '../admission.ts';

const group = 'rbac.authorization.k8s.io';

/**
 * Nobody grants what they do not have: who writes a role must have all it allows or may `escalate` it, who binds one
 * must have all it allows or may `bind` it.
 */
export function roleEscalation(rbac: Rbac, authorizer: Authorizer): AdmissionPlugin {
  async function may(
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

  /** The rules somebody would be given, unless it is settled that the writer may give them. */
  async function rulesToCover(attributes: Attributes): Promise<readonly PolicyRule[] | undefined> {
    const { object, resource, namespace, context } = attributes;
    const { roleRef, rules } = object as KubeObject & { roleRef?: RoleRef; rules?: readonly PolicyRule[] | null };
    if (!roleRef) {
      const isAllowed = await may(attributes, 'escalate', resource.kind.plural, context.info.name);
      return isAllowed ? undefined : (rules ?? []);
    }
    const plural = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    if (await may(attributes, 'bind', plural, roleRef.name)) return undefined;
    const referred = rbac.rulesOf(roleRef, namespace);
    if (!referred) throw notFound(resource.kind, roleRef.name);
    return referred;
  }

  return {
    name: 'RoleEscalation',
    handles: ({ resource, operation, subresource }) =>
      resource.kind.group === group && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    async mutate(attributes) {
      const { user } = attributes.context;
      if (user.groups.includes('system:masters') || isOnlyCollected(attributes)) return;
      const wanted = await rulesToCover(attributes);
      if (!wanted) return;
      const { namespace, resource } = attributes;
      const { grants, missing } = rbac.grantsOf(user, resource.kind.scope === 'Namespaced' ? namespace : '');
      const held = Array.from(grants, ({ rule }) => rule);
      const lacking = uncovered(wanted, held);
      if (lacking.length === 0) return;
      const errors = missing.length > 0 ? `; resolution errors: [${missing.join(' ')}]` : '';
      throw refuse(
        attributes,
        `user ${JSON.stringify(user.username)} (groups=${quoted(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${printedParts(lacking).join('\n')}${errors}`,
      );
    },
  };
}

/** Whether an update changes only what the garbage collector must be able to. */
function isOnlyCollected({ object, oldObject }: Attributes): boolean {
  if (!object || !oldObject) return false;
  const core = ({ metadata, ...rest }: KubeObject) => {
    const { ownerReferences: _, finalizers: __, managedFields: ___, resourceVersion: ____, ...kept } = metadata;
    return { ...rest, metadata: kept };
  };
  return isSame(core(object), core(oldObject));
}
