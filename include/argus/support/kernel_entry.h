/* Comes before every kernel's source, so that a function of this name with other arguments is an error of the compiler
 * and not a kernel that reads arguments it was not given. */
#ifndef ARGUS_SUPPORT_KERNEL_ENTRY_H_
#define ARGUS_SUPPORT_KERNEL_ENTRY_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C"
#endif
void kernel_entry(int64_t *args); /* a kernel is this function */

#endif /* ARGUS_SUPPORT_KERNEL_ENTRY_H_ */
