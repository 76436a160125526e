// Thrown when the directory refuses a change because of its input or of the organization's state. Nothing was changed. The
// message is one sentence for the operator.

export class DirectoryRefusal extends Error {
  override name = 'DirectoryRefusal';
}
