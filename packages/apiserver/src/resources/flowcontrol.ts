import { defaultFlowSchema, defaultPriorityLevelConfiguration } from '@kruise/api/flowcontrol/flowcontrol.default';
import type { FlowSchema } from '@kruise/api/flowcontrol/flowschema';
import { validateFlowSchema, validateFlowSchemaStatus } from '@kruise/api/flowcontrol/flowschema.validate';
import type { PriorityLevelConfiguration } from '@kruise/api/flowcontrol/prioritylevelconfiguration';
import {
  validatePriorityLevelConfiguration,
  validatePriorityLevelConfigurationStatus,
} from '@kruise/api/flowcontrol/prioritylevelconfiguration.validate';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { isSame } from '@kruise/machinery/json-value';
import type { Cause } from '@kruise/schema/field-error';
import { mandatorySpec } from '../bootstrap/flow-control.ts';
import { type RulesByResource, rulesFor } from './rules.ts';

function* faultsOfSchema(schema: FlowSchema): Generator<Cause> {
  yield* validateFlowSchema(schema);
  const fixed = mandatorySpec('FlowSchema', schema.metadata.name ?? '');
  if (fixed && !isSame(schema.spec, fixed)) {
    const detail = `spec of '${schema.metadata.name}' must equal the fixed value`;
    yield invalidStructure('spec', 'flowcontrol.FlowSchemaSpec', schema.spec, detail);
  }
}

function* faultsOfLevel(level: PriorityLevelConfiguration): Generator<Cause> {
  yield* validatePriorityLevelConfiguration(level);
  const name = level.metadata.name ?? '';
  const fixed = mandatorySpec('PriorityLevelConfiguration', name) as PriorityLevelConfiguration['spec'];
  if (!fixed) return;
  const isExempt = name === 'exempt';
  const { exempt: _, ...rest } = level.spec ?? {};
  const { exempt: __, ...fixedRest } = fixed;
  if (isExempt ? isSame(rest, fixedRest) : isSame(level.spec, fixed)) return;
  const part = isExempt ? ` except the 'spec.exempt' field` : '';
  const detail = `spec of '${name}'${part} must equal the fixed value`;
  yield invalidStructure('spec', 'flowcontrol.PriorityLevelConfigurationSpec', level.spec, detail);
}

export const flowControlRules: RulesByResource = {
  'flowschemas.flowcontrol.apiserver.k8s.io': rulesFor<FlowSchema>({
    statusKeepsMetadata: true,
    default: defaultFlowSchema,
    validate: faultsOfSchema,
    validateUpdate: faultsOfSchema,
    validateStatusUpdate: validateFlowSchemaStatus,
  }),
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': rulesFor<PriorityLevelConfiguration>({
    statusKeepsMetadata: true,
    default: defaultPriorityLevelConfiguration,
    validate: faultsOfLevel,
    validateUpdate: faultsOfLevel,
    validateStatusUpdate: validatePriorityLevelConfigurationStatus,
  }),
};
