import { readFileSync } from 'node:fs';
import { type AuditLog, createAuditLog } from '@kruise/apiserver/audit/audit';
import { openLogFile } from '@kruise/apiserver/audit/log-file';
import { readPolicy } from '@kruise/apiserver/audit/policy';
import { parseYaml } from '@kruise/schema/yaml-text';
import type { Clock } from '@kruise/values/clock';

export type AuditOptions = {
  readonly auditPolicyFile?: string;
  readonly auditLogPath?: string;
  readonly auditLogMaxsize?: string;
  readonly auditLogMaxbackup?: string;
};

/** Opens the audit log that the flags configure; undefined if there is no audit policy. */
export function openAudit(options: AuditOptions, clock: Clock): AuditLog | undefined {
  const { auditPolicyFile, auditLogPath = '-', auditLogMaxsize = '100', auditLogMaxbackup = '10' } = options;
  if (auditPolicyFile === undefined) return undefined;
  const policy = readPolicy(parseYaml(readFileSync(auditPolicyFile, 'utf8')));
  if (auditLogPath === '-') return createAuditLog(policy, (line) => process.stdout.write(`${line}\n`));
  const sink = openLogFile({
    path: auditLogPath,
    maxSizeBytes: Number(auditLogMaxsize) * 1024 * 1024,
    maxBackups: Number(auditLogMaxbackup),
    nowMs: () => clock.now(),
  });
  return createAuditLog(policy, sink);
}
