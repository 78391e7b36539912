/** Tables of the kinds that say what becomes of requests: who may, who is asked, who waits, who answers. */
import { humanDuration } from '@kruise/values/human-duration';
import {
  ageColumn,
  condition,
  integer,
  type Loose,
  nameColumn,
  selector,
  tableOfColumns,
  text,
  wide,
} from './cells.ts';
import type { TableColumns } from './table.ts';

function subjects(kind: string) {
  return (binding: Loose): string =>
    (binding.subjects ?? [])
      .filter((subject: Loose) => subject.kind === kind)
      .map(({ name, namespace }: Loose) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
      .join(', ');
}

const binding = tableOfColumns([
  nameColumn,
  text('Role', 'What may be done.', ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`),
  ageColumn,
  wide(text('Users', 'Users who may.', subjects('User'))),
  wide(text('Groups', 'Groups who may.', subjects('Group'))),
  wide(text('ServiceAccounts', 'Service accounts that may.', subjects('ServiceAccount'))),
]);

const webhooks = tableOfColumns([
  nameColumn,
  integer('Webhooks', 'How many webhooks are called.', ({ webhooks: all }) => (all ?? []).length),
  ageColumn,
]);

function requestCondition({ status }: Loose): string {
  const types = new Set((status?.conditions ?? []).map(({ type }: Loose) => type));
  const verdict = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  return `${verdict}${types.has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

function paramReference({ spec }: Loose): string {
  const reference = spec?.paramRef;
  if (!reference) return '<unset>';
  if (reference.name) return `${reference.namespace ?? '*'}/${reference.name}`;
  return reference.selector ? selector(reference.selector) : '<unset>';
}

const limited =
  (read: (limited: Loose) => unknown) =>
  ({ spec }: Loose) => {
    const value = spec?.limited ? read(spec.limited) : undefined;
    return value ?? '<none>';
  };

/** Flow schemas as they are asked: by precedence, then by name. */
function byPrecedence(a: Loose, b: Loose): number {
  const difference = (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0);
  return difference || (a.metadata.name < b.metadata.name ? -1 : 1);
}

export const requestTables: { readonly [kind: string]: TableColumns } = {
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  CertificateSigningRequest: tableOfColumns([
    nameColumn,
    ageColumn,
    text('SignerName', 'Who is to sign.', ({ spec }) => spec?.signerName || '<none>'),
    text('Requestor', 'Who asked.', ({ spec }) => spec?.username ?? ''),
    text('RequestedDuration', 'For how long.', ({ spec }) =>
      spec?.expirationSeconds == null ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    ),
    text('Condition', 'How far it has come.', requestCondition),
  ]),
  MutatingWebhookConfiguration: webhooks,
  ValidatingWebhookConfiguration: webhooks,
  ValidatingAdmissionPolicy: tableOfColumns([
    nameColumn,
    integer('Validations', 'How many rules it has.', ({ spec }) => (spec?.validations ?? []).length),
    text('ParamKind', 'The kind its rules take parameters from.', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>',
    ),
    ageColumn,
  ]),
  ValidatingAdmissionPolicyBinding: tableOfColumns([
    nameColumn,
    text('PolicyName', 'The policy it puts in force.', ({ spec }) => spec?.policyName ?? ''),
    text('ParamRef', 'The parameters it hands over.', paramReference),
    ageColumn,
  ]),
  FlowSchema: tableOfColumns(
    [
      nameColumn,
      text(
        'PriorityLevel',
        'How its requests are treated.',
        ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
      ),
      text('MatchingPrecedence', 'Which schema is asked first.', ({ spec }) => spec?.matchingPrecedence ?? 0),
      text('DistinguisherMethod', 'What tells flows apart.', ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>'),
      ageColumn,
      text(
        'MissingPL',
        'Whether its priority level does not exist.',
        (schema) => condition(schema, 'Dangling')?.status ?? '?',
      ),
    ],
    { order: byPrecedence },
  ),
  PriorityLevelConfiguration: tableOfColumns([
    nameColumn,
    text('Type', 'Whether requests are limited.', ({ spec }) => spec?.type ?? ''),
    text(
      'NominalConcurrencyShares',
      'Its share of all requests.',
      ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? spec?.exempt?.nominalConcurrencyShares ?? '<none>',
    ),
    text(
      'Queues',
      'How many queues there are.',
      limited(({ limitResponse }) => limitResponse?.queuing?.queues),
    ),
    text(
      'HandSize',
      'How many queues a flow is dealt.',
      limited(({ limitResponse }) => limitResponse?.queuing?.handSize),
    ),
    text(
      'QueueLengthLimit',
      'How long a queue may grow.',
      limited(({ limitResponse }) => limitResponse?.queuing?.queueLengthLimit),
    ),
    ageColumn,
  ]),
  APIService: tableOfColumns([
    nameColumn,
    text('Service', 'What serves it.', ({ spec }) =>
      spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local',
    ),
    text('Available', 'Whether it can be reached.', (service) => {
      const available = condition(service, 'Available');
      if (!available) return 'Unknown';
      return available.status === 'True' ? 'True' : `${available.status} (${available.reason})`;
    }),
    ageColumn,
  ]),
};
