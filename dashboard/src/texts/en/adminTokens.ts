export const adminTokens = {
  title: 'All keys',
};
