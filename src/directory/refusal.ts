// What the directory refuses to do because of what it holds or was asked: a wrong name, a state that forbids it. The
// message is one sentence for the operator. Nothing was changed.

export class DirectoryRefusal extends Error {
  override name = 'DirectoryRefusal';
}
