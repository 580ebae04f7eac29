import { createContext, useContext } from 'react';
import { type User, useUser } from '../../../api/session';

/** The owner of the key in the form, if that is somebody else than its reader. */
export const OtherOwnerContext = createContext<User | undefined>(undefined);

export function useOtherOwner(): User | undefined {
  return useContext(OtherOwnerContext);
}

/** The owner of the key in the form. */
export function useOwner(): User {
  const self = useUser();
  return useOtherOwner() ?? self;
}
