export const openApi = {}
