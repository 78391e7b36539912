import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta } from '../meta/object-meta.validate.ts';
import { validateConditions } from './flowschema.validate.ts';
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from './prioritylevelconfiguration.ts';

const mostQueues = 10_000_000;
/** Number of hash bits that are available for shuffle sharding. */
const mostHashBits = 60;
const preserveZero = 'flowcontrol.k8s.io/preserve-zero-concurrency-shares';

export function* validatePriorityLevelConfiguration(level: PriorityLevelConfiguration): Generator<Cause> {
  const { metadata, spec, status } = level;
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  if (metadata.annotations?.[preserveZero] !== undefined) {
    yield forbidden('metadata.annotations', `annotation '${preserveZero}' is forbidden`);
  }
  yield* validateSpec(metadata.name ?? '', spec);
  yield* validateConditions(status?.conditions);
}

export function* validatePriorityLevelConfigurationStatus({ status }: PriorityLevelConfiguration): Generator<Cause> {
  yield* validateConditions(status?.conditions);
}

function* validateSpec(name: string, spec: PriorityLevelConfigurationSpec | undefined): Generator<Cause> {
  const type = spec?.type ?? '';
  if ((name === 'exempt') !== (type === 'Exempt')) {
    yield invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'");
  }
  switch (type) {
    case 'Exempt':
      if (spec?.limited) yield forbidden('spec.limited', 'must be nil if the type is not Limited');
      if (spec?.exempt) {
        yield* validateShares(spec.exempt.nominalConcurrencyShares, 'spec.exempt');
        yield* validateLendable(spec.exempt.lendablePercent, 'spec.exempt');
      }
      return;
    case 'Limited':
      if (spec?.exempt) yield forbidden('spec.exempt', 'must be nil if the type is Limited');
      if (spec?.limited) yield* validateLimited(spec.limited, 'spec.limited');
      else yield required('spec.limited', 'must not be empty when type is Limited');
      return;
    default:
      yield notSupported('spec.type', type, ['Exempt', 'Limited']);
  }
}

function* validateLimited(limited: LimitedPriorityLevelConfiguration, path: string): Generator<Cause> {
  const { nominalConcurrencyShares, limitResponse, lendablePercent, borrowingLimitPercent } = limited;
  yield* validateShares(nominalConcurrencyShares, path);
  yield* validateResponse(limitResponse, `${path}.limitResponse`);
  yield* validateLendable(lendablePercent, path);
  if (borrowingLimitPercent != null && borrowingLimitPercent < 0) {
    const field = `${path}.borrowingLimitPercent`;
    yield invalid(field, borrowingLimitPercent, 'if specified, must be a non-negative integer');
  }
}

function* validateShares(shares: number | null | undefined, path: string): Generator<Cause> {
  if (shares != null && shares < 0) {
    yield invalid(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer');
  }
}

function* validateLendable(percent: number | null | undefined, path: string): Generator<Cause> {
  if (percent != null && (percent < 0 || percent > 100)) {
    yield invalid(`${path}.lendablePercent`, percent, 'must be between 0 and 100, inclusive');
  }
}

function* validateResponse(response: LimitResponse | undefined, path: string): Generator<Cause> {
  const { type = '', queuing } = response ?? {};
  switch (type) {
    case 'Reject':
      if (queuing) yield forbidden(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited');
      return;
    case 'Queue':
      if (queuing) yield* validateQueuing(queuing, `${path}.queuing`);
      else yield required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited');
      return;
    default:
      yield notSupported(`${path}.type`, type, ['Queue', 'Reject']);
  }
}

function* validateQueuing(queuing: QueuingConfiguration, path: string): Generator<Cause> {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  if (queueLengthLimit <= 0) yield invalid(`${path}.queueLengthLimit`, queueLengthLimit, 'must be positive');
  if (queues <= 0) yield invalid(`${path}.queues`, queues, 'must be positive');
  else if (queues > mostQueues) yield invalid(`${path}.queues`, queues, `must not be greater than ${mostQueues}`);
  const field = `${path}.handSize`;
  if (handSize <= 0) yield invalid(field, handSize, 'must be positive');
  else if (handSize > queues) yield invalid(field, handSize, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * handSize) > mostHashBits) {
    const needs = `required entropy bits of deckSize ${queues} and handSize ${handSize}`;
    yield invalid(field, handSize, `${needs} should not be greater than ${mostHashBits}`);
  }
}
