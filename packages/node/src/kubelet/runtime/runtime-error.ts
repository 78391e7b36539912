/** Texts of runtime errors, in the format of Go programs. */
import { GrpcError, goErrorText } from '@kruise/client/grpc/status';

/** Returns the description of an error without its code. */
export function descriptionOf(error: unknown): string {
  if (error instanceof GrpcError) return error.description;
  return error instanceof Error ? error.message : String(error);
}

/** Returns the description of an error with its gRPC code, unless the code is UNKNOWN. */
export function rpcTextOf(error: unknown): string {
  return error instanceof GrpcError && error.code !== 'UNKNOWN' ? goErrorText(error) : descriptionOf(error);
}

/** Reports whether an error means that the sandbox or container does not exist. */
export function isNotFoundError(error: unknown): boolean {
  return error instanceof GrpcError && error.code === 'NOT_FOUND';
}
