/** Reads and writes nftables tables with the program `nft`. A table is named with its family: `inet kruise-policy`. */
import { parseListing, type TableListing, type Transaction } from './nft-table.ts';
import type { CommandRunner } from './run-command.ts';

/** Reads a table. Rejects if it does not exist or cannot be read. */
export async function readNftTable(run: CommandRunner, table: string): Promise<TableListing> {
  return parseListing(await run('nft', ['-j', 'list', 'table', ...table.split(' ')]));
}

/** Reads the structure of a table, without the elements of its sets. */
export async function readNftStructure(run: CommandRunner, table: string): Promise<TableListing> {
  return parseListing(await run('nft', ['-t', '-j', 'list', 'table', ...table.split(' ')]));
}

/** Writes a transaction and its cleanup, and records what the kernel has. `onCommitted` is called between the two. */
export async function writeTransaction(
  run: CommandRunner,
  transaction: Transaction,
  onCommitted?: () => void,
): Promise<void> {
  if (transaction.script !== '') await runNftScript(run, transaction.script);
  transaction.committed();
  onCommitted?.();
  if (transaction.cleanup !== '') await runNftScript(run, transaction.cleanup);
  transaction.cleaned();
}

/** Removes a table, if it exists. */
export async function removeNftTable(run: CommandRunner, table: string): Promise<void> {
  // Adding first makes the deletion idempotent.
  await runNftScript(run, `add table ${table}\ndelete table ${table}\n`);
}

/** Runs a script as one transaction. */
async function runNftScript(run: CommandRunner, script: string): Promise<void> {
  await run('nft', ['-f', '-'], { input: script });
}
